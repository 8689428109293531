import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KEY, gateWith, outcome, request } from '../../fixtures/server/gate.ts';

const OURS = 'http://localhost:8766';
const LISTED = 'https://app.example';

/**
 * Origin → for each Sec-Fetch-Site (absent, none, same-origin, same-site, cross-site, unknown): is
 * it local?
 */
const TRUTH: readonly (readonly [string | undefined, string])[] = [
  [undefined, 'yyynnn'],
  [OURS, 'yyyyyy'],
  ['http://127.0.0.1:8766', 'yyyyyy'],
  ['http://[::1]:8767', 'yyyyyy'],
  ['http://localhost:8767', 'yyyyyy'],
  [LISTED, 'yyyyyy'],
  ['null', 'nnnnnn'],
  ['', 'nnnnnn'],
  ['*', 'nnnnnn'],
  ['http://localhost', 'nnnnnn'],
  ['http://localhost:3000', 'nnnnnn'],
  ['https://localhost:8766', 'nnnnnn'],
  ['http://127.0.0.1', 'nnnnnn'],
  ['http://localhost:8766.evil.example', 'nnnnnn'],
  ['http://localhost:8766/', 'nnnnnn'],
  ['http://localhost:8766@evil.example', 'nnnnnn'],
  ['http://evil.example:8766', 'nnnnnn'],
  ['https://evil.example', 'nnnnnn'],
  ['https://app.example.evil.example', 'nnnnnn'],
  ['https://app.example:444', 'nnnnnn'],
  ['http://app.example', 'nnnnnn'],
  ['https://sub.app.example', 'nnnnnn'],
  ['chrome-extension://abc', 'nnnnnn'],
  ['file://', 'nnnnnn'],
];
const SITES = [undefined, 'none', 'same-origin', 'same-site', 'cross-site', 'Same-Origin'];

test('every combination of Origin and Sec-Fetch-Site has its verdict', () => {
  const gate = gateWith({ allowedOrigins: ['*', LISTED, 'null'] });
  for (const [origin, row] of TRUTH) {
    for (const [index, site] of SITES.entries()) {
      const headers = [
        ...(origin === undefined ? [] : ['Origin', origin]),
        ...(site === undefined ? [] : ['Sec-Fetch-Site', site]),
        'Content-Type',
        'text/plain',
      ];
      const isLocal = row[index] === 'y';
      const reported = `${origin} ${site}`;
      for (const method of ['GET', 'POST']) {
        const sent = request({ method, path: '/v1/messages', headers });
        assert.is(outcome(gate(sent)), isLocal ? 'local' : '401 AUTH_001', reported);
      }
      const reload = request({ method: 'POST', path: '/config/reload', headers });
      assert.is(outcome(gate(reload)), isLocal ? 'local' : '403', reported);
      const upgrade = request({ path: '/ws', headers });
      assert.is(outcome(gate(upgrade, 'upgrade')), isLocal ? 'local' : '403', reported);
      const keyed = request({
        method: 'POST',
        path: '/v1/messages',
        headers: [...headers, 'x-svc-key', KEY],
      });
      assert.is(outcome(gate(keyed)), isLocal ? 'local' : 'keyed', reported);
      const trusting = gateWith({ trustBrowserOrigins: true });
      assert.is(outcome(trusting(reload)), 'local', reported);
      assert.is(outcome(trusting(upgrade, 'upgrade')), 'local', reported);
    }
  }
});

test('a repeated Origin or Sec-Fetch-Site counts as foreign', () => {
  const gate = gateWith();
  for (const headers of [
    ['Origin', OURS, 'Origin', OURS],
    ['Origin', OURS, 'origin', 'https://evil.example'],
    ['Sec-Fetch-Site', 'same-origin', 'Sec-Fetch-Site', 'cross-site'],
  ]) {
    assert.is(outcome(gate(request({ headers }))), '401 AUTH_001');
  }
});

test('a page served under an allowed host name is same-origin', () => {
  const gate = gateWith({ allowedHosts: ['proxy.lan:9000'] });
  const host = 'proxy.lan:9000';
  assert.is(
    outcome(gate(request({ host, headers: ['Origin', 'http://proxy.lan:9000'] }))),
    'local',
  );
  assert.is(
    outcome(gate(request({ host, headers: ['Origin', 'http://proxy.lan:9001'] }))),
    '401 AUTH_001',
  );
});

test.run();
