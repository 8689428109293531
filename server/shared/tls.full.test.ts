/**
 * Redis over TLS: its certificate is verified, and a CA that Node was told to trust is accepted.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { freePort } from '../../fixtures/cli/live.ts';
import { fixturePath } from '../../fixtures/paths.ts';
import { withProxyProcess } from '../../fixtures/proxy-process.ts';
import { startTestProxy } from '../../fixtures/proxy.ts';
import { exchange } from '../../fixtures/server/exchange.ts';
import { startRedis, until } from '../../fixtures/server/redis.ts';
import type { TestRedis } from '../../fixtures/server/redis.ts';

const CERTIFICATE = fixturePath('tls', 'provider.crt');

async function withTls(use: (port: number) => Promise<void>): Promise<void> {
  const port = await freePort();
  const args = ['--tls-port', String(port), '--tls-auth-clients', 'no'];
  args.push('--tls-cert-file', CERTIFICATE, '--tls-key-file', fixturePath('tls', 'provider.key'));
  const redis: TestRedis = await startRedis([...args, '--tls-ca-cert-file', CERTIFICATE]);
  try {
    await use(port);
  } finally {
    await redis.stop();
  }
}

test('refuses and reports an untrusted certificate', () =>
  withTls(async (port) => {
    const t = await startTestProxy({ env: { SVC_REDIS_URL: `rediss://localhost:${port}` } });
    try {
      const { link } = t.proxy.services.shared!;
      await until('it has failed', () => link.view().reason?.startsWith('TLS failed') === true);
      assert.not.ok(link.isUp);
    } finally {
      await t.close();
    }
  }));

test('accepts a trusted certificate, by name and by address', () =>
  withTls(async (port) => {
    for (const host of ['localhost', '127.0.0.1']) {
      const options = {
        upstreamUrl: 'http://127.0.0.1:9',
        yaml: `shared: { redis_url: "rediss://${host}:${port}" }`,
        env: { NODE_EXTRA_CA_CERTS: CERTIFICATE },
      };
      await withProxyProcess(options, async (proxy) => {
        const { text } = await exchange(proxy.port, { path: '/health', method: 'GET' });
        const { shared } = JSON.parse(text) as { shared: { state: string; reason: string | null } };
        assert.equal([shared.state, shared.reason], ['up', null], host);
      });
    }
  }));

test.run();
