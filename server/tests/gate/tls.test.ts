/**
 * A provider that cannot be reached safely is not contacted: unknown name, untrusted certificate or
 * no TLS, and no plain HTTP instead.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxyProcess } from '../../../fixtures/proxy-process.ts';
import { withProxy } from '../../../fixtures/proxy.ts';
import { PROVIDER_CERTIFICATE, startUpstream } from '../../../fixtures/upstream.ts';
import type { Upstream, UpstreamOptions } from '../../../fixtures/upstream.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import type { Sent } from '../../../fixtures/server/exchange.ts';

const TRUSTING = { NODE_EXTRA_CA_CERTS: PROVIDER_CERTIFICATE };
/** A failing lookup takes as long as the machine's resolver decides. */
const LOOKUP_MS = 60_000;

const REQUESTS: readonly Sent[] = [false, true].flatMap((stream) => [
  { path: '/v1/messages', body: json(MESSAGE, { stream }) },
  { path: '/v1/chat/completions', body: json(CHAT, { stream }) },
]);

async function withProvider(
  options: UpstreamOptions,
  use: (provider: Upstream) => Promise<void>,
): Promise<void> {
  const provider = await startUpstream(options);
  try {
    await use(provider);
  } finally {
    await provider.close();
  }
}

/**
 * Asserts that every request to `origin` fails with PROVIDER_003 for `reason` after one attempt,
 * and has a row.
 */
function expectUnreachable(origin: string, reason: RegExp): Promise<void> {
  const places = { MSGPROV_BASE_URL: origin, CHATPROV_BASE_URL: origin };
  // So that the header timeout does not end the attempt first.
  const env = { ...places, SVC_REQUEST_TIMEOUT: String(LOOKUP_MS / 1000) };
  return withProxy({ env }, async (t) => {
    for (const sent of REQUESTS) {
      const signal = AbortSignal.timeout(LOOKUP_MS);
      const response = await exchange(t.proxy.port, { ...sent, signal });
      assert.is(response.status, 502, response.text);
      assert.match(response.text, '"code":"PROVIDER_003"');
      assert.match(response.text, reason);
    }
    for (const row of await t.rows(REQUESTS.length)) {
      assert.equal([row.outcome, row.attempts], ['error', 1]);
    }
    assert.is(t.upstream.requests.length, 0);
  });
}

/** Asserts that the TLS provider saw only failed connections, none of which spoke plain HTTP. */
function expectNothingSent(provider: Upstream): void {
  assert.is(provider.requests.length, 0);
  assert.ok(provider.failedHandshakes.length <= REQUESTS.length, 'one attempt each');
  assert.not.match(String(provider.failedHandshakes), 'HTTP_REQUEST');
}

test('accepts a certificate that the machine trusts', () =>
  withProvider({ tls: {} }, (provider) =>
    withProxyProcess({ upstreamUrl: provider.url, env: TRUSTING }, async ({ port }) => {
      for (const sent of REQUESTS) {
        const response = await exchange(port, {
          ...sent,
          headers: { authorization: 'Bearer mine' },
        });
        assert.is(response.status, 200, response.text);
        assert.ok(response.whole);
      }
      assert.is(provider.requests.length, REQUESTS.length);
      assert.equal(provider.failedHandshakes, []);
    }),
  ));

test('refuses a certificate from an unknown authority', () =>
  withProvider({ tls: {} }, async (provider) => {
    await expectUnreachable(provider.url, /TLS failed \(DEPTH_ZERO_SELF_SIGNED_CERT\)/);
    expectNothingSent(provider);
  }));

test('refuses a trusted certificate for another name', () =>
  withProvider({ tls: {} }, async (provider) => {
    const upstreamUrl = `https://[::ffff:127.0.0.1]:${provider.port}`;
    await withProxyProcess({ upstreamUrl, env: TRUSTING }, async ({ port }) => {
      const response = await exchange(port, { body: json(MESSAGE) });
      assert.is(response.status, 502, response.text);
      assert.match(response.text, /"code":"PROVIDER_003"/);
      assert.match(response.text, /TLS failed \(ERR_TLS_CERT_ALTNAME_INVALID\)/);
    });
    expectNothingSent(provider);
  }));

test('refuses an old version of TLS', () => {
  const old = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' } as const;
  return withProvider({ tls: old }, async (provider) => {
    await expectUnreachable(provider.url, /TLS failed \(\w+\)/);
    expectNothingSent(provider);
  });
});

test('refuses a provider that speaks plain HTTP where TLS is expected', async () => {
  let connections = 0;
  const server = createServer((_request, response) => {
    connections += 1;
    response.end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await expectUnreachable(`https://localhost:${port}`, /TLS failed \(\w+\)/);
  assert.is(connections, 0);
  server.close();
});

test('a host without an address is unreachable', async () => {
  const reason = /host name (?:not found|lookup failed)/;
  await expectUnreachable('https://provider.invalid', reason);
});

test.after(closeClients);
test.run();
