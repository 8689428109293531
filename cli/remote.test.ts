/** A proxy that answers late, or breaks off, is not reported as missing. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makePlace, run } from '../fixtures/cli/run.ts';
import type { Place } from '../fixtures/cli/run.ts';
import { controlPath } from '../server/control/control.ts';
import { exitCodes } from './exit.ts';
import { connectionError } from './remote.ts';

/** Longer than the timeout for a proxy's state. */
const LATE_MS = 5500;

async function withSocket(
  answer: RequestListener,
  use: (place: Place) => Promise<void>,
): Promise<void> {
  const place = makePlace();
  mkdirSync(place.home, { recursive: true });
  const server: Server = createServer(answer);
  server.listen(controlPath(place.home));
  await once(server, 'listening');
  try {
    await use(place);
  } finally {
    server.close();
    server.closeAllConnections();
    place.dispose();
  }
}

test('waits for a slow response', () =>
  withSocket(
    (_request, response) => {
      setTimeout(() => response.end('{"paused": true}'), LATE_MS);
    },
    async (place) => {
      const { code, stdout, stderr } = await run(place, ['pause', '--raw']);
      assert.is(code, 0, stderr);
      assert.equal(JSON.parse(stdout), { paused: true });
    },
  ));

test('does not wait for a proxy that hangs: it soon reports an error or what it knows without it', () =>
  withSocket(
    () => undefined,
    async (place) => {
      const limits = await run(place, ['limits']);
      assert.is(limits.code, 0, limits.stderr);
      assert.match(
        limits.stderr,
        'svc is running but does not answer; this is what it last wrote to disk.',
      );
      const startedMs = Date.now();
      const { code, stderr } = await run(place, ['pause']);
      assert.is(code, exitCodes.bad_gateway);
      assert.match(stderr, /svc runs, but does not answer: no answer in time\n.*restart --force/);
      // A healthy one is silent for half a minute at most.
      assert.ok(Date.now() - startedMs < 25_000);
    },
  ));

test('a command that the proxy breaks off is not carried out on its files instead', () =>
  withSocket(
    (request) => request.socket.destroy(),
    async (place) => {
      const { code, stderr } = await run(place, ['route', 'add', '--target', 'chat']);
      assert.is(code, exitCodes.bad_gateway);
      assert.match(stderr, /svc runs, but does not answer/);
    },
  ));

test('with an unusable home folder no command claims that a proxy is running', async () => {
  const makers: readonly [reason: RegExp, make: (home: string) => void][] = [
    [/not a folder/, (home) => writeFileSync(home, '')],
    [/it is a link/, (home) => symlinkSync(home, home)],
  ];
  for (const [reason, make] of makers) {
    const place = makePlace();
    make(place.home);
    for (const command of ['debug status', 'provider-status', 'learn reset', 'route list']) {
      const { code, stderr } = await run(place, command.split(' '));
      assert.is(code, exitCodes.config, `${command}: ${stderr}`);
      assert.match(stderr, reason);
      assert.match(stderr, /SVC_HOME/);
      assert.not.match(stderr, /svc runs/);
    }
    place.dispose();
  }
  const code = 'EACCES';
  const denied = Object.assign(new Error(`connect ${code}`), { code, address: '/h/control.sock' });
  assert.is(connectionError(denied).message, 'Cannot use /h/control.sock: permission denied');
});

test.run();
