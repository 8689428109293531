import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { exemptions } from './no-proxy.ts';

type Case = readonly [noProxy: string, url: string, isExempt: boolean];

const CASES: readonly Case[] = [
  ['', 'https://api.test', false],
  ['api.test', 'https://api.test', true],
  ['API.test', 'https://Api.Test', true],
  ['test', 'https://api.test', true],
  ['.test', 'https://api.test', true],
  ['*.test', 'https://a.b.test', true],
  ['pi.test', 'https://api.test', false],
  ['api.test.example', 'https://api.test', false],
  ['other.test, api.test', 'https://api.test', true],
  ['other.test api.test', 'https://api.test', true],
  [',,', 'https://api.test', false],
  ['*', 'https://api.test', true],
  ['other.test,*', 'http://10.0.0.1', true],
  ['api.test:443', 'https://api.test', true],
  ['api.test:443', 'https://api.test:8443', false],
  ['api.test:80', 'http://api.test', true],
  ['10.0.0.1', 'http://10.0.0.1:1234', true],
  ['10.0.0.1:1234', 'http://10.0.0.1:1234', true],
  ['fd00::1', 'http://[fd00::1]:80', true],
  ['[fd00::1]', 'http://[fd00::1]', true],
  ['[fd00::1]:81', 'http://[fd00::1]:81', true],
  ['[fd00::1]:81', 'http://[fd00::1]:82', false],
];

for (const [noProxy, text, isExempt] of CASES) {
  test(`'${noProxy}' ${isExempt ? 'exempts' : 'does not exempt'} ${text}`, () => {
    const { protocol, hostname, port } = new URL(text);
    const end = { protocol, port, hostname: hostname.replace(/^\[(.*)\]$/, '$1') };
    assert.is(exemptions(noProxy)(end), isExempt);
  });
}

test.run();
