import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { REDACTED, createRedactor } from '../../server/log/redact.ts';
import { contentRisk } from '../vault/risk/risk.ts';
import { CREDENTIAL_SHAPES } from './credential-shapes.ts';

const redactor = createRedactor();

/**
 * Returns three texts of that shape, generated without its lookaheads and then checked against
 * them.
 */
function samplesOf(source: string): string[] {
  const plain = source.replaceAll(/\\b|\(\?=[^)]*\)/g, '');
  const drawn = fc.sample(fc.stringMatching(new RegExp(`^(?:${plain})$`)), {
    numRuns: 200,
    seed: 7,
  });
  const whole = new RegExp(`^(?:${source})$`);
  return drawn.filter((one) => one.length >= 16 && whole.test(one)).slice(0, 3);
}

/** One example of every kind that is found by delimiters and not by a prefix. */
const MARKED = [
  `-----BEGIN RSA ${'PRIVATE'} KEY-----\nMIIEowIBAAKCAQEA75\n-----END RSA ${'PRIVATE'} KEY-----`,
  `PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 4\nAAAAgQCqtZ6`,
  `Abc8Q~${'k3'.repeat(17)}`,
  `{SHA}${'qUqP5cyxm6YcTAhz05Hph5gvu9M'}=`,
  `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c`,
  `${'Ab3/'.repeat(21)}Qz==`,
];

test('redacts every shape of the table in the log, and detects it in the vault', () => {
  for (const source of CREDENTIAL_SHAPES) {
    const samples = samplesOf(source);
    assert.ok(samples.length > 0, source);
    for (const sample of samples) {
      assert.is(contentRisk(sample), 'secret', `${source}: ${sample}`);
      for (const [before, after] of [
        ['', ''],
        ['the key is ', ', they said'],
        ['{"a":"x\\n', '"}'],
        ['(', ')'],
      ] as const) {
        const cleaned = redactor.text(before + sample + after);
        assert.not(cleaned.includes(sample), `${source}: ${cleaned}`);
        assert.ok(cleaned.includes(REDACTED) && cleaned.includes(before), cleaned);
      }
    }
  }
  for (const sample of MARKED) {
    assert.is(contentRisk(sample), 'secret', sample);
    assert.is(redactor.text(`a ${sample}`), `a ${REDACTED}`);
  }
});

test('redacts a whole credential, however long, and keeps the text around it', () => {
  for (const prefix of ['hf_', 'gsk_', 'xai-', 'github_pat_', 'nvapi-', 'pplx-', 'r8_', 'svc_']) {
    for (const chars of [44, 80, 200]) {
      const key = prefix + 'aB3'.repeat(chars).slice(0, chars);
      assert.is(redactor.text(`Wrong key: ${key}.`), `Wrong key: ${REDACTED}.`);
      assert.is(redactor.text(`${key} ${key},${key}`), `${REDACTED} ${REDACTED},${REDACTED}`);
      assert.not.match(JSON.stringify(redactor.value({ error: new Error(key) })), /aB3aB3/);
    }
  }
});

test('keeps the ids, paths and hashes that a log usually contains', () => {
  for (const text of [
    '/v1/messages?beta=true',
    '/home/somebody/.config/svc/logs/svc-2026-11-22.log',
    'msg_01XFDUDYJgAACzvnptvVoYEL req_011CSHoEeqs5C35K2UUqR7Fy toolu_01A09q90qw90lq917835lq9',
    'chatcmpl-9xKZbq3Yp1Yd5m7n8o9p0q1r2s3t4 resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b',
    'fc_67ccd2bf17f0819081ff3bb2cf6508e60bb6a6b452d3795b call_DdmO9pD3xa9XTPNJ32zg2hcA rs_67ccf18ef5fc8190',
    '01234567-89ab-cdef-0123-456789abcdef',
    'claude-sonnet-4-5-20250929 gpt-5.1-codex-max gemini-2.5-flash-preview-09-2025',
    'accounts/fireworks/models/llama-v3p1-405b-instruct meta-llama/Llama-3.3-70B-Instruct-Turbo',
    `sha256:${'0123456789abcdef'.repeat(4)}`,
    `sha512-${'Ab3/'.repeat(21)}Qz==`,
    'at Object.<anonymous> (file:///work/dist/server/log/redact.js:120:14)',
    'ECONNREFUSED 127.0.0.1:443',
  ]) {
    assert.is(redactor.text(text), text);
  }
});

test.run();
