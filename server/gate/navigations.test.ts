import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KEY, gateWith, outcome, request } from '../../fixtures/server/gate.ts';

const OURS = 'http://localhost:8766';

/**
 * Headers that a browser sends with loads that no script started: none of them names a foreign
 * site.
 */
const LOADS: readonly (readonly string[])[] = [
  ['Sec-Fetch-Site', 'none', 'Sec-Fetch-Mode', 'navigate', 'Sec-Fetch-Dest', 'document'],
  ['Sec-Fetch-Site', 'none', 'Sec-Fetch-Mode', 'no-cors', 'Sec-Purpose', 'prefetch'],
  ['Sec-Purpose', 'prefetch;prerender'],
  ['sec-purpose', ''],
  ['Purpose', 'prefetch'],
  ['X-Purpose', 'preview'],
  ['X-Moz', 'prefetch'],
  ['Sec-Fetch-Mode', 'navigate'],
  ['Sec-Fetch-Mode', 'cors', 'sec-fetch-mode', 'navigate'],
  ['Sec-Fetch-Dest', 'document'],
  ['Sec-Fetch-Dest', 'iframe'],
  ['Sec-Fetch-Dest', 'frame'],
  ['Sec-Fetch-Dest', 'fencedframe'],
  ['Sec-Fetch-Dest', 'embed'],
  ['Sec-Fetch-Dest', 'object'],
  ['Sec-Fetch-User', '?1'],
  ['Origin', OURS, 'Sec-Fetch-Site', 'same-origin', 'Sec-Fetch-Mode', 'navigate'],
];
const PROXIED = [
  'GET /v1/models',
  'GET /v1/models/m',
  'GET /v1/files',
  'GET /v1/messages',
  'POST /v1/messages',
  'POST /v1/chat/completions',
  'GET /v1beta/models',
  'POST /v1beta/models/m:generateContent',
  'POST /v1/files',
  'GET http://localhost:8766/v1/models',
];

test('pages and prefetches of a browser reach no provider without a key', () => {
  const gate = gateWith({ allowedOrigins: ['*', 'https://app.example'] });
  for (const load of LOADS) {
    for (const line of PROXIED) {
      const [method = '', path = ''] = line.split(' ');
      const sent = { method, path, headers: load };
      assert.is(outcome(gate(request(sent))), '401 AUTH_001', `${line} ${load.join(' ')}`);
      const keyed = { ...sent, headers: [...load, 'X-Svc-Key', KEY] };
      assert.is(outcome(gate(request(keyed))), 'keyed', line);
      assert.is(outcome(gateWith({ trustBrowserOrigins: true })(request(sent))), 'local', line);
    }
    const form = request({ method: 'POST', path: '/ingest', headers: load });
    assert.is(outcome(gate(form)), '401 AUTH_001', load.join(' '));
  }
});

test('our own pages may be opened, and API clients are not treated as pages', () => {
  const gate = gateWith();
  for (const load of LOADS) {
    for (const path of ['/dashboard', '/stats', '/docs', '/health', '/metrics']) {
      assert.is(outcome(gate(request({ path, headers: load }))), 'local', path);
    }
  }
  for (const headers of [
    ['Sec-Fetch-Mode', 'cors', 'Sec-Fetch-Site', 'same-origin', 'Sec-Fetch-Dest', 'empty'],
    ['Sec-Fetch-Mode', 'cors'],
    ['Purpose', 'batch'],
  ]) {
    const sent = request({ method: 'POST', path: '/v1/messages', headers });
    assert.is(outcome(gate(sent)), 'local', headers.join(' '));
  }
});

test.run();
