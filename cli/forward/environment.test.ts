/**
 * The certificates that clients trust in forward mode: those trusted before, and svc's authority.
 */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inPlace, write } from '../../fixtures/cli/run.ts';
import type { Place } from '../../fixtures/cli/run.ts';
import { forwardEnvironment } from './environment.ts';
import type { Environment } from './certificate-lists.ts';

const pem = (name: string): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(name).toString('base64')}\n-----END CERTIFICATE-----`;

function environmentIn({ home }: Place, env: Environment, authority = 'authority'): Environment {
  fs.mkdirSync(join(home, 'forward'), { recursive: true, mode: 0o700 });
  const url = 'http://127.0.0.1:8765';
  return forwardEnvironment({ env, home, url, token: 't', authorityPem: `${pem(authority)}\n` });
}

const textOf = (path: string | undefined): string => fs.readFileSync(path ?? '', 'utf8');

/** Returns how often a list contains each of `names`. */
function counts(path: string | undefined, names: readonly string[]): readonly number[] {
  const text = textOf(path);
  return names.map((name) => text.split(pem(name)).length - 1);
}

test('every certificate list that the user names stays trusted, including folders and links', () =>
  inPlace(async (place) => {
    const folder = join(place.folder, 'certs');
    write(place, 'certs/one.pem', `${pem('dir')}\r\n`);
    write(place, 'certs/README', 'no certificate');
    fs.symlinkSync(join(folder, 'one.pem'), join(folder, '0a1b2c3d.0'));
    fs.symlinkSync(join(folder, 'gone'), join(folder, '0a1b2c3e.0'));
    const file = (name: string) => write(place, name, `# ${name}\n${pem(name)}\n`);
    const env = {
      SSL_CERT_FILE: file('ssl'),
      SSL_CERT_DIR: `${folder}:/nowhere`,
      CURL_CA_BUNDLE: file('curl'),
      REQUESTS_CA_BUNDLE: join(place.folder, 'requests'),
      CODEX_CA_CERTIFICATE: file('codex'),
      NODE_EXTRA_CA_CERTS: file('node'),
    };
    write(place, 'requests/own.crt', pem('requests'));
    const given = environmentIn(place, env);
    const lists = ['SSL_CERT_FILE', 'CURL_CA_BUNDLE', 'REQUESTS_CA_BUNDLE', 'CODEX_CA_CERTIFICATE'];
    assert.is(new Set(lists.map((name) => given[name])).size, 1);
    const names = ['ssl', 'dir', 'curl', 'requests', 'codex', 'authority', 'node'];
    assert.equal(counts(given['SSL_CERT_FILE'], names), [1, 1, 1, 1, 1, 1, 0]);
    assert.equal(counts(given['NODE_EXTRA_CA_CERTS'], ['node', 'authority', 'ssl']), [1, 1, 0]);

    // A run within a run, and then one with a new authority.
    const inner = environmentIn(place, { ...env, ...given });
    assert.is(systemCount(inner), 0, 'no other file is written');
    assert.equal(counts(inner['SSL_CERT_FILE'], names), [1, 1, 1, 1, 1, 1, 0]);
    const next = environmentIn(place, { ...env, ...inner }, 'second');
    assert.equal(counts(next['NODE_EXTRA_CA_CERTS'], ['node', 'second']), [1, 1]);
    assert.equal(counts(next['SSL_CERT_FILE'], ['ssl', 'second']), [1, 1]);
  }));

/** Returns how many certificates in the list are not from this test. */
function systemCount(env: Environment): number {
  const named = ['ssl', 'dir', 'curl', 'requests', 'codex', 'authority'].map(pem);
  const all = textOf(env['SSL_CERT_FILE']).match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g);
  return (all ?? []).filter((one) => !named.includes(one)).length;
}

test('a list without certificates is ignored', () =>
  inPlace(async (place) => {
    const odd = {
      SSL_CERT_FILE: place.folder,
      NODE_EXTRA_CA_CERTS: '/nowhere/x',
      CURL_CA_BUNDLE: '',
    };
    const given = environmentIn(place, odd);
    assert.ok(systemCount(given) > 10, "the system's list is there");
    assert.equal(counts(given['SSL_CERT_FILE'], ['authority']), [1]);
    assert.is(given['NODE_EXTRA_CA_CERTS'], join(place.home, 'forward', 'ca.pem'));
    assert.is(given['CURL_CA_BUNDLE'], '');
  }));

test.run();
