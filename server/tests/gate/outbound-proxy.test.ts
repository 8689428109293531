/**
 * Requests sent through an outbound proxy: what that proxy receives, and what the provider gets.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startConnectProxy } from '../../../fixtures/connect-proxy.ts';
import type { ConnectProxy } from '../../../fixtures/connect-proxy.ts';
import { withProxyProcess } from '../../../fixtures/proxy-process.ts';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { PROVIDER_CERTIFICATE, startUpstream } from '../../../fixtures/upstream.ts';
import { MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';

const BODY = json(MESSAGE);
const CREDENTIALS = `Basic ${Buffer.from('u:p@ss').toString('base64')}`;

interface Through extends TestProxy {
  readonly outbound: ConnectProxy;
}

/**
 * Runs `use` with a provider `http://provider.test:8080` that only the outbound proxy can reach.
 */
async function withOutbound(
  env: Readonly<Record<string, string>>,
  use: (t: Through) => Promise<void>,
): Promise<void> {
  const provider = await startUpstream();
  const outbound = await startConnectProxy(provider.port);
  try {
    await withProxy(
      {
        yaml: 'providers:\n  messages: { allow_insecure: true }',
        env: {
          MSGPROV_BASE_URL: 'http://provider.test:8080',
          HTTP_PROXY: `http://u:p%40ss@127.0.0.1:${outbound.port}`,
          ...env,
        },
      },
      (t) => use({ ...t, upstream: provider, outbound }),
    );
  } finally {
    await outbound.close();
    await provider.close();
  }
}

test('a TLS provider is reached through a tunnel, and its name and certificate are checked', async () => {
  const provider = await startUpstream({ tls: {} });
  const outbound = await startConnectProxy(provider.port);
  const config = `outbound: { https_proxy: "http://u:p%40ss@127.0.0.1:${outbound.port}" }`;
  const ask = (origin: string, env: Readonly<Record<string, string>>) =>
    withProxyProcess({ upstreamUrl: origin, yaml: config, env }, async ({ port }) => {
      const whole = await exchange(port, { body: BODY });
      const stream = await exchange(port, { body: json(MESSAGE, { stream: true }) });
      return [whole, stream];
    });
  const trusting = { NODE_EXTRA_CA_CERTS: PROVIDER_CERTIFICATE };
  for (const response of await ask('https://provider.test', trusting)) {
    assert.is(response.status, 200, response.text);
    assert.ok(response.whole);
  }
  assert.is(provider.requests.length, 2);
  assert.is(provider.requests[0]?.header('host'), 'provider.test');
  const [tunnel, ...more] = outbound.tunnels;
  assert.is(more.length, 0, 'one connection for both');
  assert.is(tunnel?.authority, 'provider.test:443');
  assert.is(tunnel?.headers['proxy-authorization'], CREDENTIALS);
  assert.is(tunnel?.isTls, true);
  // An untrusted certificate, and a trusted one for another name.
  for (const received of [
    ...(await ask('https://provider.test:8443', {})),
    ...(await ask('https://other.test', trusting)),
  ]) {
    assert.is(received.status, 502, received.text);
    assert.match(received.text, '"code":"PROVIDER_003"');
    assert.match(
      received.text,
      /TLS failed \((?:DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS_CERT_ALTNAME)/,
    );
  }
  assert.is(provider.requests.length, 2);
  assert.ok(outbound.tunnels.every((each) => each.isTls === true));
  assert.equal(outbound.others, []);
  await outbound.close();
  await provider.close();
});

test('the connection to the outbound proxy may also use TLS', async () => {
  const provider = await startUpstream({ tls: {} });
  const outbound = await startConnectProxy(provider.port, true);
  const yaml = `outbound: { https_proxy: "https://localhost:${outbound.port}" }`;
  const upstreamUrl = 'https://provider.test';
  const env = { NODE_EXTRA_CA_CERTS: PROVIDER_CERTIFICATE };
  await withProxyProcess({ upstreamUrl, yaml, env }, async ({ port }) => {
    assert.is((await exchange(port, { body: BODY })).status, 200);
  });
  assert.is(outbound.tunnels[0]?.headers['proxy-authorization'], undefined);
  await withProxyProcess({ upstreamUrl, yaml }, async ({ port }) => {
    const reason = /outbound proxy: TLS failed \(DEPTH_ZERO_SELF_SIGNED_CERT\)/;
    expectUnreachable(await exchange(port, { body: BODY }), reason);
  });
  assert.is(outbound.tunnels.length, 1, 'no credential or name went to it');
  await outbound.close();
  await provider.close();
});

test('a provider with plain http: is reached through a tunnel, with every header field unchanged', () =>
  withOutbound({}, async (t) => {
    const twice = { 'x-twice': ['a', 'b'], '7': 'last' };
    for (let n = 0; n < 3; n += 1) {
      const response = await exchange(t.proxy.port, { body: BODY, headers: twice });
      assert.is(response.status, 200, response.text);
    }
    assert.equal(
      t.outbound.tunnels.map((tunnel) => [tunnel.authority, tunnel.isTls]),
      [['provider.test:8080', false]],
    );
    assert.is(t.outbound.tunnels[0]?.headers['proxy-authorization'], CREDENTIALS);
    const fields = t.upstream.requests[0]?.rawHeaders.map(([name, value]) => `${name}: ${value}`);
    const own = fields?.filter((field) => /^(?:x-twice|7):/.test(field));
    assert.equal(own, ['7: last', 'x-twice: a', 'x-twice: b']);
    assert.not.match(String(fields), CREDENTIALS);
  }));

test('a response through a tunnel may begin with 100 Continue', () =>
  withOutbound({}, async (t) => {
    t.upstream.script(undefined, '100-first');
    assert.is((await exchange(t.proxy.port, { body: BODY })).status, 200);
  }));

test('hosts in no_proxy, this machine, and the other protocol are reached directly', () =>
  withOutbound({}, async (t) => {
    const { port } = t.upstream;
    const byHttp = { HTTP_PROXY: `http://127.0.0.1:${t.outbound.port}` };
    const byHttps = { HTTPS_PROXY: `http://127.0.0.1:${t.outbound.port}` };
    // This machine, by an address that is not recognised as loopback.
    const elsewhere = `0.0.0.0:${port}`;
    const cases: readonly (readonly [string, Readonly<Record<string, string>>, number])[] = [
      [elsewhere, byHttp, 1],
      [elsewhere, { ...byHttp, NO_PROXY: 'other.test,0.0.0.0' }, 0],
      [elsewhere, { ...byHttp, NO_PROXY: `0.0.0.0:${port}` }, 0],
      [elsewhere, { ...byHttp, NO_PROXY: '*' }, 0],
      [elsewhere, byHttps, 0],
      ...['127.0.0.1', '127.0.0.2', 'localhost', '[::ffff:127.0.0.1]'].map(
        (host) => [`${host}:${port}`, byHttp, 0] as const,
      ),
    ];
    for (const [host, env, tunnels] of cases) {
      const before = t.outbound.tunnels.length;
      const here = {
        yaml: 'providers:\n  messages: { allow_insecure: true }',
        env: { ...env, MSGPROV_BASE_URL: `http://${host}` },
      };
      await withProxy(here, async ({ proxy }) => {
        // Not every machine has all of its loopback addresses.
        const { status } = await exchange(proxy.port, { body: BODY });
        assert.ok(status === 200 || host.startsWith('127.0.0.2'), `${host}: ${status}`);
      });
      assert.is(t.outbound.tunnels.length - before, tunnels, `${host} ${JSON.stringify(env)}`);
    }
  }));

test('if the outbound proxy refuses, breaks off or is missing, the provider is unreachable', async () => {
  const answers: readonly (readonly [answer: string, reason: RegExp])[] = [
    ['HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n', /outbound proxy answered 407/],
    ['HTTP/1.1 502 Bad Gateway\r\n\r\nno such host', /outbound proxy answered 502/],
    ['', /outbound proxy: connection reset/],
    ['this is no HTTP\r\n\r\n', /outbound proxy: the response is not valid HTTP/],
  ];
  await withOutbound({}, async (t) => {
    for (const [answer, reason] of answers) {
      t.outbound.refuse(answer);
      const response = await exchange(t.proxy.port, { body: BODY });
      expectUnreachable(response, reason);
      assert.not.match(response.text, /p@ss|p%40ss|provider\.test|127\.0\.0\.1/);
    }
    t.outbound.refuse(undefined);
    assert.is(
      (await exchange(t.proxy.port, { body: BODY })).status,
      200,
      'the next request succeeds',
    );
    assert.is((await t.rows(answers.length + 1)).length, answers.length + 1);
  });
  await withOutbound({ HTTP_PROXY: 'http://127.0.0.1:9' }, async (t) => {
    const response = await exchange(t.proxy.port, { body: BODY });
    expectUnreachable(response, /outbound proxy: connection refused/);
  });
});

function expectUnreachable(
  got: { readonly status: number; readonly text: string },
  reason: RegExp,
): void {
  assert.is(got.status, 502, got.text);
  assert.match(got.text, '"code":"PROVIDER_003"');
  assert.match(got.text, reason);
}

test('an outbound proxy that does not respond delays a request by timeout_seconds at most', () =>
  withOutbound({ SVC_REQUEST_TIMEOUT: '0.3' }, async (t) => {
    t.outbound.stopResponding();
    const response = await exchange(t.proxy.port, { body: BODY });
    assert.is(response.status, 504, response.text);
    assert.match(response.text, '"code":"TIMEOUT_001"');
  }));

test.after(closeClients);
test.run();
