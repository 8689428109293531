/**
 * `alerts[].notify` from outside: real receivers, a real proxy, and which parts of a URL may be
 * shown.
 */
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makePlace, run, start } from '../../fixtures/cli/run.ts';
import type { Place } from '../../fixtures/cli/run.ts';

/** Ten times longer than anything here takes on a busy machine. */
const DEADLINE_MS = 60_000;
const TOKEN = 'T0SECRETPATH/B0SECRET/xyzzyplugh';
const KEY = 'signing-key-of-the-test';

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Starts a receiver that responds with `answer`, which gets the number of the request. */
async function startReceiver(answer: (n: number, response: ServerResponse) => void) {
  const received: Received[] = [];
  const waiting: (() => void)[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { url: path = '', headers } = request;
      received.push({ path, headers, body: Buffer.concat(pieces).toString() });
      answer(received.length, response);
      for (const wake of waiting.splice(0)) wake();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    received,
    async until(count: number): Promise<void> {
      const signal = AbortSignal.timeout(DEADLINE_MS);
      while (received.length < count)
        await new Promise<void>((resolve, reject) => {
          waiting.push(resolve);
          signal.addEventListener('abort', () =>
            reject(new Error(`${received.length} of ${count} requests came`)),
          );
        });
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const ok = (_n: number, response: ServerResponse) => void response.end('{}');

/** Returns a place whose only alert fires while a provider is unhealthy. */
function placeWith(notify: string): { readonly place: Place; readonly flags: readonly string[] } {
  const place = makePlace();
  const file = join(place.folder, 'svc.yaml');
  const when = '{ metric: unhealthy_providers, above: 0 }';
  writeFileSync(file, `alerts:\n  - { name: down, when: ${when}, notify: ${notify} }\n`, {
    mode: 0o600,
  });
  return { place, flags: ['--config', file] };
}

/** Returns everything that svc has written to its home folder. */
function allFiles(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

test('the start and the end of an alert are each sent to a webhook once, signed', async () => {
  const receiver = await startReceiver(ok);
  const { place, flags } = placeWith(
    `{ webhook: '${receiver.url}/hook?x=1', secret: '\${ALERT_KEY}' }`,
  );
  const proxy = start(place, ['serve', '--port', '0', ...flags], { ALERT_KEY: KEY });
  try {
    await proxy.prints(/http:\/\/127\.0\.0\.1:\d+/);
    for (const state of ['unhealthy', 'healthy']) {
      await run(place, ['provider-force-health', 'chat', state]);
      for (let times = 0; times < 3; times += 1) await run(place, ['check-alerts']);
    }
    await receiver.until(2);
    const notices = receiver.received.map(({ body }) => JSON.parse(body));
    assert.equal(
      notices.map((one) =>
        ['type', 'alert', 'state', 'metric', 'value', 'above'].map((name) => one[name]),
      ),
      [
        ['svc.alert', 'down', 'firing', 'unhealthy_providers', 1, 0],
        ['svc.alert', 'down', 'resolved', 'unhealthy_providers', 0, 0],
      ],
    );
    for (const { path, headers, body } of receiver.received) {
      assert.is(path, '/hook?x=1');
      const [, seconds, mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(
        String(headers['x-svc-signature']),
      )!;
      assert.is(createHmac('sha256', KEY).update(`${seconds}.${body}`).digest('hex'), mac);
      assert.is(headers['x-svc-alert-id'], JSON.parse(body).id);
    }
  } finally {
    proxy.child.kill('SIGTERM');
    await proxy.ended;
    await receiver.close();
    place.dispose();
  }
});

test('a failed delivery is repeated unchanged, and the address appears nowhere', async () => {
  const receiver = await startReceiver((n, response) => {
    if (n === 1) response.statusCode = 503;
    response.end();
  });
  const { place, flags } = placeWith(`{ webhook: '${receiver.url}/services/${TOKEN}' }`);
  const proxy = start(place, ['serve', '--port', '0', ...flags]);
  try {
    await proxy.prints(/http:\/\/127\.0\.0\.1:\d+/);
    await run(place, ['provider-force-health', 'chat', 'unhealthy']);
    const printed = [await run(place, ['check-alerts'])];
    await receiver.until(2);
    const [first, second] = receiver.received.map(({ body }) => JSON.parse(body));
    assert.equal(second, first);
    // From now on nothing is at this address: failed deliveries are logged.
    await receiver.close();
    printed.push(await run(place, ['check-alerts', '--test']));
    assert.is(printed[1]!.code, 1);
    assert.match(printed[1]!.stdout, /✗ down: webhook 127\.0\.0\.1:\d+: it cannot be reached/);
    for (const argv of [
      ['config', 'show', ...flags],
      ['config', 'show', '--json', ...flags],
      ['config', 'validate', flags[1]!],
      ['check-alerts', '--json'],
      ['check-alerts', '--test', '--json', ...flags],
      ['doctor', '--offline'],
      ['status', '--json'],
    ])
      printed.push(await run(place, argv));
    assert.match(printed[2]!.stdout, /alerts .*"webhook":"set \(a URL\)"/);
    const shown = printed.map(({ stdout, stderr }) => `${stdout}\n${stderr}`).join('\n');
    assert.not.match(shown, 'SECRET');
  } finally {
    proxy.child.kill('SIGTERM');
    const { stdout, stderr } = await proxy.ended;
    assert.not.match(`${stdout}${stderr}`, 'SECRET');
    assert.ok(existsSync(join(place.home, 'logs')));
    assert.not.match(allFiles(place.home), 'SECRET');
    place.dispose();
  }
});

test('a redirect is not followed, and a refusal is not retried', async () => {
  const other = await startReceiver(ok);
  const receiver = await startReceiver((n, response) => {
    response.writeHead(n === 1 ? 307 : 410, { location: `${other.url}/stolen` }).end();
  });
  const { place, flags } = placeWith(`{ webhook: '${receiver.url}/hook', template: json }`);
  try {
    const results = [];
    for (let times = 0; times < 2; times += 1) {
      const { code, stdout } = await run(place, ['check-alerts', '--test', '--json', ...flags]);
      results.push([code, JSON.parse(stdout).tested[0].result]);
    }
    assert.equal(results, [
      [1, 'a redirect (status 307), which is not followed'],
      [1, 'status 410'],
    ]);
    assert.is(receiver.received.length, 2);
    assert.is(other.received.length, 0);
  } finally {
    await receiver.close();
    await other.close();
    place.dispose();
  }
});

test('a receiver that never responds delays no request, no check and no shutdown', async () => {
  const receiver = await startReceiver(() => undefined);
  const { place, flags } = placeWith(`{ webhook: '${receiver.url}/hook' }`);
  const proxy = start(place, ['serve', '--port', '0', ...flags]);
  try {
    const [url = ''] = await proxy.prints(/http:\/\/127\.0\.0\.1:\d+/);
    await run(place, ['provider-force-health', 'chat', 'unhealthy']);
    assert.is((await run(place, ['check-alerts'])).code, 1);
    await receiver.until(1);
    // Its connection is open and stays open.
    const health = await fetch(`${url}/health`, { signal: AbortSignal.timeout(DEADLINE_MS) });
    assert.is(health.status, 200);
    assert.is((await run(place, ['check-alerts'])).code, 1);
    assert.is(receiver.received.length, 1);
  } finally {
    proxy.child.kill('SIGTERM');
    assert.is((await proxy.ended).code, 0);
    await receiver.close();
    place.dispose();
  }
});

test('a command gets the alert on its standard input, and none of our keys', async () => {
  const { place, flags } = placeWith(
    `{ command: [node, -e, 'require("fs").writeFileSync("seen.json", JSON.stringify([JSON.parse(require("fs").readFileSync(0, "utf8")), process.env]))'] }`,
  );
  try {
    const env = { ...place.env, MSGPROV_API_KEY: 'a-key-of-ours' };
    const { code, stdout } = await run(place, ['check-alerts', '--test', ...flags], { env });
    assert.equal([code, stdout], [0, 'ok down: command node: delivered, exit code 0\n']);
    const [notice, variables] = JSON.parse(readFileSync(join(place.home, 'seen.json'), 'utf8'));
    assert.equal([notice.alert, notice.state], ['down', 'test']);
    assert.is(variables.SVC_ALERT_NAME, 'down');
    assert.not.ok(JSON.stringify(variables).includes('a-key-of-ours'));
    const wrong = placeWith('{ command: [no-such-program-here] }');
    const failed = await run(wrong.place, ['check-alerts', '--test', ...wrong.flags]);
    assert.is(failed.code, 1);
    assert.match(
      failed.stdout,
      '✗ down: command no-such-program-here: it cannot be started (ENOENT)',
    );
    wrong.place.dispose();
  } finally {
    place.dispose();
  }
});

test('without a proxy the start of an alert is sent too, once', async () => {
  const receiver = await startReceiver(ok);
  const place = makePlace();
  const file = join(place.folder, 'svc.yaml');
  writeFileSync(
    file,
    `alerts: [{ name: space, when: { metric: disk_free_mb, above: 0 }, notify: { webhook: '${receiver.url}', template: slack } }]`,
    { mode: 0o600 },
  );
  try {
    for (let times = 0; times < 2; times += 1)
      assert.is((await run(place, ['check-alerts', '--config', file])).code, 1);
    assert.is(receiver.received.length, 1);
    const { text } = JSON.parse(receiver.received[0]!.body);
    assert.match(text, /^svc alert: space: disk_free_mb is \d/);
  } finally {
    await receiver.close();
    place.dispose();
  }
});

test.run();
