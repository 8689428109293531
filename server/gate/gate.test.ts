import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as fc from 'fast-check';
import { originForm } from './target.ts';
import {
  KEY,
  type RequestOverrides,
  gateWith,
  outcome,
  request,
} from '../../fixtures/server/gate.ts';

test('a forwarding header can make a client remote, but never local', () => {
  const gate = gateWith();
  const fields = [
    'Forwarded',
    'X-Forwarded-For',
    'x-forwarded-host',
    'X-FORWARDED-PROTO',
    'X-Forwarded-Port',
    'X-Forwarded-Anything-At-All',
    'X-Real-IP',
    'x-real-ip',
    'Via',
    'CF-Connecting-IP',
    'True-Client-IP',
    'X-Client-IP',
    'Fastly-Client-IP',
    'Fly-Client-IP',
    'CDN-Loop',
    'CF-Ray',
    'X-Cluster-Client-IP',
    'X-Original-Forwarded-For',
    'X-Envoy-External-Address',
    'fORWARDED',
    'X-Forwarded',
    'Forwarded-For',
    'forwarded-proto',
    'Forwarded-Host',
    'X-Forward-For',
    'X-Original-For',
    'X-Original-URL',
    'X-Rewrite-URL',
    'Proxy-Client-IP',
    'WL-Proxy-Client-IP',
    'HTTP_CLIENT_IP',
    'Client-IP',
    'ClientIP',
    'Real-IP',
    'Remote-IP',
    'X-Remote-IP',
    'X-Remote-Addr',
    'X-Originating-IP',
    'X-Vercel-Forwarded-For',
    'X-Vercel-Proxied-For',
    'X-MS-Forwarded-Client-IP',
    'X-Azure-ClientIP',
    'X-Azure-SocketIP',
    'X-AppEngine-User-IP',
    'X-Sucuri-ClientIP',
    'X-ProxyUser-Ip',
    'DO-Connecting-IP',
    'Incap-Client-IP',
    'X-NF-Client-Connection-IP',
    'CDN-Src-IP',
    'Ali-CDN-Real-IP',
    'CloudFront-Viewer-Address',
    'CF-Connecting-IPv6',
    'x-cLIENT-iP',
  ];
  for (const field of fields) {
    for (const value of ['127.0.0.1', 'for=127.0.0.1', '::1', '']) {
      const headers = [field, value];
      assert.is(outcome(gate(request({ headers }))), '401 AUTH_001', field);
      assert.is(outcome(gate(request({ headers, peer: '10.0.0.9' }))), '401 AUTH_001', field);
      const keyed = [...headers, 'X-Svc-Key', KEY];
      assert.is(outcome(gate(request({ headers: keyed }))), 'keyed', field);
    }
  }
  for (const field of [
    'X-Forward',
    'X-Stainless-Lang',
    'Viable',
    'X-Forwarder',
    'User-Agent',
    'X-Zip',
    'X-Tip',
    'X-Vendor',
    'X-Author',
    'Skip',
    'X-Waiting-For',
  ]) {
    assert.is(outcome(gate(request({ headers: [field, '10.0.0.9'] }))), 'local', field);
  }
});

test('which paths are public, for whom, and with which method', () => {
  const gate = gateWith();
  const remoteClients: readonly RequestOverrides[] = [
    { peer: '10.0.0.9' },
    { headers: ['Origin', 'https://evil.example'] },
    { headers: ['X-Forwarded-For', '10.0.0.9'] },
  ];
  for (const remoteClient of remoteClients) {
    for (const path of ['/', '/health', '/docs', '/docs/', '/openapi.yaml', '/health?x=1', '/?a']) {
      assert.is(outcome(gate(request({ ...remoteClient, path }))), 'public', path);
      assert.is(outcome(gate(request({ ...remoteClient, path, method: 'HEAD' }))), 'public', path);
      assert.is(
        outcome(gate(request({ ...remoteClient, path, method: 'POST' }))),
        '401 AUTH_001',
        path,
      );
      assert.is(outcome(gate(request({ path }))), 'local', path);
      assert.is(
        outcome(gate(request({ ...remoteClient, path }), 'upgrade')) === 'public',
        false,
        path,
      );
    }
    for (const path of [
      '/stats',
      '/health/',
      '//health',
      '/Health',
      '/health/../stats',
      '/docs/x',
      '/openapi.yaml/',
      '/metrics',
      '/dashboard',
      '/v1/messages',
      '/%68ealth',
      '/health;x',
      '/trace/last',
    ]) {
      assert.is(outcome(gate(request({ ...remoteClient, path }))), '401 AUTH_001', path);
    }
    const options = request({ ...remoteClient, path: '/v1/messages', method: 'OPTIONS' });
    assert.is(outcome(gate(options)), 'public');
  }
});

function via(mode: string, dest: string): string[] {
  return ['Sec-Fetch-Site', 'cross-site', 'Sec-Fetch-Mode', mode, 'Sec-Fetch-Dest', dest];
}

test('a link to the dashboard may be followed, but not loaded in a frame or by fetch', () => {
  const gate = gateWith();
  const followed = { path: '/dashboard', headers: via('navigate', 'document') };
  assert.is(outcome(gate(request(followed))), 'public');
  assert.is(outcome(gate(request({ ...followed, path: '/dashboard/x' }))), 'public');
  assert.is(outcome(gate(request({ ...followed, path: '/dashboards' }))), '401 AUTH_001');
  assert.is(outcome(gate(request({ ...followed, path: '/stats' }))), '401 AUTH_001');
  assert.is(outcome(gate(request({ ...followed, peer: '10.0.0.9' }))), '401 AUTH_001');
  for (const [mode, dest] of [
    ['navigate', 'iframe'],
    ['no-cors', 'script'],
    ['cors', 'empty'],
  ]) {
    const headers = via(mode!, dest!);
    assert.is(outcome(gate(request({ path: '/dashboard', headers }))), '401 AUTH_001');
  }
});

test('decides by peer, setting and key who is admitted', () => {
  const cases: readonly (readonly [string, boolean, readonly string[], string])[] = [
    ['127.0.0.1', false, [], 'local'],
    ['127.0.0.1', false, ['X-Svc-Key', KEY], 'local'],
    ['127.0.0.1', false, ['X-Svc-Key', 'wrong'], 'local'],
    ['127.0.0.1', false, ['X-Svc-Key', 'svc_wrong'], '401 AUTH_001'],
    ['127.0.0.1', false, ['X-Svc-Key', 'svc_wrong', 'x-api-key', 'of a provider'], '401 AUTH_001'],
    // An empty key, from a variable that is not set, claims nothing.
    ['127.0.0.1', false, ['X-Svc-Key', ''], 'local'],
    ['127.0.0.1', false, ['X-Svc-Key', 'a dead key'], '401 AUTH_003'],
    ['127.0.0.1', true, [], '401 AUTH_001'],
    ['127.0.0.1', true, ['X-Svc-Key', 'wrong'], '401 AUTH_001'],
    ['127.0.0.1', true, ['x-svc-key', KEY], 'local'],
    ['127.0.0.1', true, ['X-Svc-Key', 'a dead key'], '401 AUTH_003'],
    ['10.0.0.9', false, [], '401 AUTH_001'],
    ['10.0.0.9', false, ['X-Svc-Key', 'wrong'], '401 AUTH_001'],
    ['10.0.0.9', false, ['X-Svc-Key', ''], '401 AUTH_001'],
    ['10.0.0.9', false, ['X-Svc-Key', KEY, 'X-Svc-Key', KEY], '401 AUTH_001'],
    ['10.0.0.9', false, ['X-Svc-Key', 'a dead key'], '401 AUTH_003'],
    ['10.0.0.9', false, ['X-SVC-KEY', KEY], 'keyed'],
    ['10.0.0.9', false, ['x-api-key', KEY], 'keyed'],
    ['10.0.0.9', false, ['Authorization', `Bearer ${KEY}`], 'keyed'],
    ['10.0.0.9', false, ['Authorization', 'Bearer wrong'], '401 AUTH_001'],
    ['10.0.0.9', false, ['X-Svc-Key', KEY, 'x-api-key', 'svc_wrong'], '401 AUTH_001'],
    ['127.0.0.1', false, ['x-api-key', 'svc_wrong'], '401 AUTH_001'],
    ['127.0.0.1', false, ['x-api-key', 'a dead key'], '401 AUTH_003'],
    ['127.0.0.1', false, ['x-api-key', 'wrong'], 'local'],
    ['127.0.0.1', true, ['x-goog-api-key', KEY], 'local'],
    ['10.0.0.9', true, ['X-Svc-Key', KEY], 'keyed'],
  ];
  for (const [peer, requireKey, headers, expected] of cases) {
    const gate = gateWith({ requireKey });
    assert.is(outcome(gate(request({ peer, headers }))), expected, headers.join(' '));
    assert.is(outcome(gate(request({ peer, headers, path: '/ws' }), 'upgrade')), expected);
  }
});

test('the configuration can be reloaded from this machine only, whatever key is sent', () => {
  const gate = gateWith();
  const reload = { path: '/config/reload', method: 'POST' };
  const key = ['X-Svc-Key', KEY];
  assert.is(outcome(gate(request(reload))), 'local');
  assert.is(outcome(gate(request({ ...reload, headers: key }))), 'local');
  assert.is(outcome(gate(request({ ...reload, peer: '10.0.0.9', headers: key }))), '403');
  assert.is(outcome(gate(request({ ...reload, peer: '10.0.0.9' }))), '403');
  assert.is(
    outcome(gate(request({ ...reload, path: '/config/reload?x', peer: '10.0.0.9' }))),
    '403',
  );
  const absolute = 'http://localhost:8766/config/reload';
  assert.is(outcome(gate(request({ ...reload, path: absolute, peer: '10.0.0.9' }))), '403');
  const forwarded = [...key, 'Via', '1.1 nginx'];
  assert.is(outcome(gate(request({ ...reload, headers: forwarded }))), '403');
});

test('refuses ambiguous message framing that Node may accept', () => {
  const gate = gateWith();
  const framed = (httpVersion: string, ...headers: string[]) =>
    outcome(gate({ ...request({ method: 'POST', headers }), httpVersion }));
  const chunked = ['Transfer-Encoding', 'chunked'];
  assert.is(framed('1.1', ...chunked), 'local');
  assert.is(framed('1.1', 'Transfer-Encoding', 'Chunked'), 'local');
  assert.is(framed('1.1', 'Content-Length', '5'), 'local');
  assert.is(framed('1.0', 'Content-Length', '5'), 'local');
  assert.is(framed('1.0', ...chunked), '400');
  assert.is(framed('0.9'), '400');
  assert.is(framed('2.0'), '400');
  assert.is(framed('1.1', ...chunked, ...chunked), '400');
  assert.is(framed('1.1', ...chunked, 'content-length', '5'), '400');
  assert.is(framed('1.1', 'Content-Length', '5', 'content-length', '5'), '400');
  for (const coding of ['', 'gzip', 'gzip, chunked', 'chunked, chunked', 'chunked ', 'identity']) {
    assert.is(framed('1.1', 'Transfer-Encoding', coding), '400', coding);
  }
  for (const length of ['', '+5', '-5', '5 ', '5,5', '0x5', '5.0', '9'.repeat(16)]) {
    assert.is(framed('1.1', 'Content-Length', length), '400', length);
  }
});

test('a refusal closes the connection if the end of the request is ambiguous', () => {
  const gate = gateWith();
  const closes = (overrides: Parameters<typeof request>[0]) => {
    const response = gate(request(overrides));
    return response.verdict === 'refused' && response.close;
  };
  assert.ok(closes({ headers: ['Transfer-Encoding', 'gzip'] }));
  assert.ok(closes({ host: '' }));
  assert.not(closes({ peer: '10.0.0.9' }));
});

function filler(count: number): string[] {
  return Array.from({ length: count }, () => ['X-A', 'b']).flat();
}

test('accepts two hundred header fields, but not one more', () => {
  const gate = gateWith();
  assert.is(outcome(gate(request({ headers: filler(199) }))), 'local');
  assert.is(outcome(gate(request({ headers: filler(200) }))), '431');
});

test('splits a target into path and query without a URL parser', () => {
  assert.is(originForm('/v1/messages?beta=true'), '/v1/messages?beta=true');
  assert.is(originForm('//evil.example/x'), '//evil.example/x');
  assert.is(originForm('http://localhost:8766/a?b=http://c/'), '/a?b=http://c/');
  assert.is(originForm('http://localhost:8766'), '/');
  assert.is(originForm('http://localhost:8766?x=1'), '/?x=1');
  assert.is(originForm('*'), '*');
});

test('no header field makes a remote peer local or makes the gate throw', () => {
  const names = ['Origin', 'Host', 'Forwarded', 'X-Forwarded-For', 'Sec-Fetch-Site', 'X-Real-IP'];
  const field = fc.tuple(fc.oneof(fc.constantFrom(...names), fc.string()), fc.string());
  const gate = gateWith({
    allowedOrigins: ['*', 'https://app.example'],
    allowedHosts: ['proxy.lan'],
  });
  fc.assert(
    fc.property(fc.array(field, { maxLength: 20 }), fc.string(), (fields, path) => {
      const sent = request({ headers: fields.flat(), path, peer: '10.0.0.9' });
      const answer = gate(sent);
      assert.ok(answer.verdict === 'refused' || answer.verdict === 'public');
    }),
    { numRuns: 2000, seed: 1 },
  );
});

test('refuses a control character in any header value', () => {
  const gate = gateWith();
  fc.assert(
    fc.property(fc.string(), fc.constantFrom('\r', '\n', '\0'), fc.string(), (a, bad, b) => {
      const response = gate(request({ headers: ['X-Any', a + bad + b] }));
      assert.is(outcome(response), '400');
    }),
    { numRuns: 500, seed: 2 },
  );
});

test.run();
