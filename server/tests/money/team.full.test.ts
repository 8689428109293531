/**
 * The services of `compose.yaml` as local processes, from the same files: two proxies with the
 * configuration in `deploy`, Postgres and Redis, nginx in front, and Prometheus with the
 * dashboard's queries.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Agent, fetch } from 'undici';
import { parse } from 'yaml';
import { freePort } from '../../../fixtures/cli/live.ts';
import { projectRoot } from '../../../fixtures/paths.ts';
import { startPostgres } from '../../../fixtures/postgres.ts';
import { startTestProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { MESSAGE, json } from '../../../fixtures/server/exchange.ts';
import { startRedis } from '../../../fixtures/server/redis.ts';
import { until } from '../../../fixtures/wait.ts';

const HOST = 'svc.example.net';
const KEY = `svc_${'0123456789abcdef'.repeat(3)}`;
const textOf = (file: string) => readFileSync(join(projectRoot, file), 'utf8');

/** Replaces the only occurrence of `from`. */
function replaceOnce(text: string, from: string, to: string): string {
  assert.is(text.split(from).length, 2, `one ${from}`);
  return text.replace(from, to);
}

interface Program {
  /** Returns what the process wrote to stderr. */
  errors(): string;
  isUp(): boolean;
  stop(): Promise<void>;
}

function start(command: string, args: readonly string[]): Program {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '';
  child.stderr.on('data', (piece: Buffer) => (text += piece.toString()));
  const ended = once(child, 'exit');
  return {
    errors: () => text,
    isUp: () => child.exitCode === null,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

interface Team {
  readonly proxies: readonly [TestProxy, TestProxy];
  readonly folder: string;
  /** Sends a request to nginx under the public name. */
  readonly send: (
    headers: Readonly<Record<string, string>>,
    body?: string,
  ) => Promise<{ status: number; text: string }>;
}

/** Starts everything except Prometheus, and stops it afterwards. */
async function withTeam(use: (team: Team) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-team-'));
  const stops: (() => Promise<void>)[] = [];
  try {
    const postgres = await startPostgres();
    stops.push(() => postgres.close());
    const { command } = (
      parse(textOf('compose.yaml'), { merge: true }) as {
        readonly services: { readonly redis: { readonly command: readonly string[] } };
      }
    ).services.redis;
    const redis = await startRedis(command.slice(1));
    stops.push(() => redis.stop());
    const url = await postgres.create('svc');
    let yaml = replaceOnce(textOf('deploy/svc/proxy.yaml'), 'host: 0.0.0.0', 'host: 127.0.0.1');
    yaml = replaceOnce(
      yaml,
      "'postgres://svc:${POSTGRES_PASSWORD}@postgres:5432/svc'",
      JSON.stringify(url),
    );
    yaml = replaceOnce(yaml, 'redis://redis:6379/0', `${redis.url}/0`);
    const open = async (node: string): Promise<TestProxy> => {
      const proxy = await startTestProxy({ yaml, env: { SVC_API_KEY: KEY, SVC_NODE: node } });
      stops.push(() => proxy.close());
      return proxy;
    };
    const proxies = [await open('svc-1'), await open('svc-2')] as const;
    const port = await freePort();
    await startNginx(folder, port, proxies, stops);
    const agent = new Agent({ connect: { rejectUnauthorized: false, servername: HOST } });
    stops.push(() => agent.destroy());
    await use({
      proxies,
      folder,
      async send(headers, body = json(MESSAGE, { model: 'claude-sonnet-4-5' })) {
        const response = await fetch(`https://127.0.0.1:${port}/v1/messages`, {
          method: 'POST',
          headers: { host: HOST, 'content-type': 'application/json', 'x-svc-key': KEY, ...headers },
          body,
          dispatcher: agent,
        });
        return { status: response.status, text: await response.text() };
      },
    });
  } finally {
    for (const stop of stops.toReversed()) await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startNginx(
  folder: string,
  port: number,
  proxies: readonly TestProxy[],
  stops: (() => Promise<void>)[],
): Promise<void> {
  const tls = join(projectRoot, 'fixtures/tls');
  let site = replaceOnce(
    textOf('deploy/nginx/svc.conf'),
    'listen 443 ssl',
    `listen 127.0.0.1:${port} ssl`,
  );
  site = replaceOnce(site, `/etc/ssl/${HOST}.pem`, join(tls, 'provider.crt'));
  site = replaceOnce(site, `/etc/ssl/${HOST}.key`, join(tls, 'provider.key'));
  let upstream = textOf('deploy/nginx/upstream-team.conf');
  for (const [index, { proxy }] of proxies.entries())
    upstream = replaceOnce(upstream, `svc-${index + 1}:8766`, `127.0.0.1:${proxy.port}`);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `user root; daemon off; pid ${folder}/pid; error_log stderr; worker_processes 1;
events { worker_connections 64; }
http { access_log off; ${paths.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
${upstream}
${site}}`,
  );
  const nginx = start('nginx', ['-c', file, '-p', folder]);
  stops.push(() => nginx.stop());
  await until('nginx listens', () => {
    assert.ok(nginx.isUp(), nginx.errors());
    return fetch(`https://127.0.0.1:${port}/`, {
      dispatcher: new Agent({ connect: { rejectUnauthorized: false, servername: HOST } }),
    }).then(
      () => true,
      () => false,
    );
  });
}

test('two proxies share one ledger and one set of limits, and a conversation stays at one of them', () =>
  withTeam(async ({ proxies, send }) => {
    const counts = () => proxies.map(({ upstream }) => upstream.requests.length);
    const used = new Set<number>();
    for (let session = 0; session < 12; session += 1) {
      const before = counts();
      for (let turn = 0; turn < 3; turn += 1) {
        const { status, text } = await send({ 'x-claude-code-session-id': `session-${session}` });
        assert.is(status, 200, text);
      }
      const grown = counts().map((count, index) => count - before[index]!);
      assert.equal(
        grown.toSorted((a, b) => a - b),
        [0, 3],
        `session ${session} stays with one proxy`,
      );
      used.add(grown.indexOf(3));
    }
    assert.is(used.size, 2, 'both served requests');
    const of = async ({ proxy }: TestProxy) => {
      const response = await fetch(`${proxy.url}/savings`, { headers: { 'x-svc-key': KEY } });
      return ((await response.json()) as { readonly total_requests: number }).total_requests;
    };
    for (const proxy of proxies)
      await until('both read all rows', async () => (await of(proxy)) === 36);
    assert.is((await send({ 'x-svc-key': 'svc_wrong' })).status, 401);
  }));

interface Board {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

test('Prometheus accepts both configurations, and every query of the board has data', () =>
  withTeam(async ({ proxies, folder, send }) => {
    const data = join(folder, 'prometheus');
    mkdirSync(data);
    const key = join(folder, 'key');
    const alerts = join(folder, 'alerts.yaml');
    writeFileSync(key, KEY);
    writeFileSync(alerts, textOf('examples/grafana/alerts.yaml'));
    let config = replaceOnce(
      textOf('deploy/prometheus/prometheus.yaml'),
      '/run/secrets/svc_key',
      key,
    );
    config = replaceOnce(config, '/etc/prometheus/alerts.yaml', alerts);
    config = replaceOnce(config, 'scrape_interval: 15s', 'scrape_interval: 1s');
    for (const [index, { proxy }] of proxies.entries())
      config = replaceOnce(config, `svc-${index + 1}:8766`, `127.0.0.1:${proxy.port}`);
    const file = join(folder, 'prometheus.yaml');
    writeFileSync(file, config);
    const one = join(folder, 'one.yaml');
    writeFileSync(one, textOf('examples/grafana/prometheus.yaml'));
    for (const path of [file, one]) {
      const checked = spawnSync('promtool', ['check', 'config', path], { encoding: 'utf8' });
      assert.is(checked.status, 0, `${checked.stdout}${checked.stderr}`);
    }
    const port = await freePort();
    const address = `127.0.0.1:${port}`;
    const flags = [`--config.file=${file}`, `--storage.tsdb.path=${data}`];
    const prometheus = start('prometheus', [...flags, `--web.listen-address=${address}`]);
    const ask = async (query: string) => {
      const response = await fetch(
        `http://${address}/api/v1/query?${new URLSearchParams({ query })}`,
      );
      return (await response.json()) as {
        readonly status: string;
        readonly error?: string;
        readonly data?: { readonly result: readonly unknown[] };
      };
    };
    try {
      const count = async (query: string) =>
        (await ask(query).catch(() => undefined))?.data?.result.length ?? 0;
      await until('both are read', async () => {
        assert.ok(prometheus.isUp(), prometheus.errors());
        return (await count('up{job="svc"} == 1')) === 2;
      });
      // A rate needs two scrapes after a request of each proxy was counted.
      for (let session = 0; session < 12; session += 1)
        assert.is((await send({ 'session-id': `s${session}` })).status, 200);
      await until(
        'there are readings',
        async () => (await count('rate(svc_provider_requests_total[1m]) >= 0')) >= 2,
      );
      const { panels } = JSON.parse(textOf('examples/grafana/board.json')) as Board;
      const queries = panels.flatMap(({ title, targets }) =>
        targets.map(({ expr }) => ({ title, expr })),
      );
      for (const { title, expr } of queries) {
        const query = expr
          .replaceAll('$instance', '.*')
          .replaceAll(/\$__(?:rate_interval|range)/g, '1m');
        const { status, error, data: answer } = await ask(query);
        assert.is(status, 'success', `${title}: ${error}`);
        assert.ok(answer!.result.length > 0, `${title} is empty: ${query}`);
      }
      assert.ok(queries.length > 20);
    } finally {
      await prometheus.stop();
    }
  }));

test.run();
