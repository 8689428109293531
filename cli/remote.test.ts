/** A proxy that answers late, or breaks off, is not one that is not there. */
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makePlace, run } from '../fixtures/cli/run.ts';
import type { Place } from '../fixtures/cli/run.ts';
import { controlPath } from '../server/control/control.ts';
import { exitCodes } from './exit.ts';

/** Longer than a proxy's state is waited for. */
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

test('an answer that takes its time is waited for', () =>
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

test('what a proxy breaks off is not done to its files behind its back', () =>
  withSocket(
    (request) => request.socket.destroy(),
    async (place) => {
      const { code, stderr } = await run(place, ['route', 'add', '--target', 'chat']);
      assert.is(code, exitCodes.bad_gateway);
      assert.match(stderr, /svc runs, but does not answer/);
    },
  ));

test.run();
