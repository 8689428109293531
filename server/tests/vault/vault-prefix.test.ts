import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import { DIALECTS, FILES, makeVaultPlace, forwardedBody } from '../../../fixtures/server/vault.ts';

const WORDS = ['flumbrick gate', 'wibbledon store', 'zandrel lamp', 'quorble lever', 'cold mirrow'];

/** Returns tool output as long as a build's, with words that match a file. */
function output(turn: number): string {
  const lines = Array.from(
    { length: 300 },
    (_, n) =>
      `2026-01-0${turn + 1}T00:00:${String(n % 60).padStart(2, '0')}Z INFO worker step ${n} of build ${turn} done in ${n * 7} ms`,
  );
  return `${lines.join('\n')}\nERROR build ${turn} failed at main.ts:${turn}7\n`;
}

/**
 * Yields the requests of a conversation of `turns` questions, each answered after one tool call.
 */
function* conversation(dialect: (typeof DIALECTS)[number], turns: number) {
  const messages: object[] = [];
  for (let turn = 0; turn < turns; turn++) {
    messages.push(dialect.user(`Question ${turn}: what about the ${WORDS[turn % WORDS.length]}?`));
    yield dialect.body([...messages]);
    messages.push(...dialect.call(`t${turn}`), dialect.result(`t${turn}`, output(turn)));
    yield dialect.body([...messages]);
    messages.push(dialect.assistant(`Answer ${turn}.`));
  }
}

/** Asserts that each body is a prefix of the next, apart from the closing brackets. */
function assertGrowing(bodies: readonly string[]): void {
  for (const [index, body] of bodies.slice(1).entries()) {
    const before = bodies[index]!.slice(0, -2);
    assert.ok(body.startsWith(before), `request ${index + 1} changes what ${index} began with`);
  }
}

const count = (text: string, part: string) => text.split(part).length - 1;

for (const dialect of DIALECTS) {
  test(`${dialect.name}: the prefix stays the same through turns, a restart and another index`, async () => {
    const place = makeVaultPlace();
    const bodies: string[] = [];
    const requests = [...conversation(dialect, 5)];
    let rig: TestProxy = await place.startIndexed();
    try {
      for (const [index, body] of requests.entries()) {
        if (index === 4) {
          // The texts added for the first two questions are no longer in the vault.
          place.write({
            'gate.md': 'Nothing any more.\n',
            'more.md': 'More of the zandrel lamp.\n',
          });
          rmSync(join(place.files, 'store.md'));
          await place.index();
        }
        if (index === 6) {
          await rig.close();
          rmSync(join(place.folder, 'index'), { recursive: true });
          rig = await place.startIndexed({ env: { SVC_RETRIEVAL_BACKEND: 'sqlite' } });
        }
        bodies.push(await forwardedBody(rig, dialect.path, body));
      }
      assertGrowing(bodies);
      const last = bodies.at(-1)!;
      // Both stages had an effect: output was compressed, and each question except the fourth
      // (whose file is gone) got its file.
      assert.ok(last.length < JSON.stringify(requests.at(-1)).length * 0.7, `${last.length}`);
      assert.ok(count(last, '[svc added') >= 3, `${count(last, '[svc added')}`);
      assert.match(last, /opens when the quorble lever/);
      assert.match(last, /keeps every snarfle/);
    } finally {
      await rig.close();
      place.dispose();
    }
  });

  test(`${dialect.name}: sending a conversation twice gives the same bytes`, async () => {
    const place = makeVaultPlace();
    let rig = await place.startIndexed();
    try {
      const requests = [...conversation(dialect, 3)];
      const first: string[] = [];
      for (const body of requests) first.push(await forwardedBody(rig, dialect.path, body));
      const second: string[] = [];
      for (const [index, body] of requests.entries()) {
        if (index === 2) {
          await rig.close();
          rig = await place.start();
          place.write({ 'gate.md': `${FILES['gate.md']}\nAnd the flumbrick gate closes.\n` });
          await place.index();
        }
        second.push(await forwardedBody(rig, dialect.path, body));
      }
      assert.equal(second, first);
      assert.ok(count(first.at(-1)!, '[svc added') === 3);
    } finally {
      await rig.close();
      place.dispose();
    }
  });
}

test('without an index for a moment, text that was added before is still sent', async () => {
  const place = makeVaultPlace();
  const rig = await place.startIndexed();
  try {
    const [{ path, body, user, assistant }] = DIALECTS;
    const question = user('what about the flumbrick gate?');
    const first = await forwardedBody(rig, path, body([question]));
    assert.match(first, /svc added/);
    rmSync(join(place.folder, 'index'), { recursive: true });
    await new Promise((resolve) => setTimeout(resolve, 1050));
    const grown = body([question, assistant('Twice.'), user('and the zandrel lamp?')]);
    assert.ok((await forwardedBody(rig, path, grown)).startsWith(first.slice(0, -2)));
  } finally {
    await rig.close();
    place.dispose();
  }
});

test('two simultaneous requests with the same question are sent alike', async () => {
  const place = makeVaultPlace();
  const rig = await place.startIndexed();
  try {
    const [{ path, body, user }] = DIALECTS;
    const raw = body([user('what about the flumbrick gate?')]);
    await Promise.all([0, 1, 2, 3].map(() => sentQuietly(rig, path, raw)));
    const received = new Set(rig.upstream.requests.map((request) => request.body.toString()));
    assert.is(received.size, 1);
    assert.match([...received][0]!, /svc added/);
  } finally {
    await rig.close();
    place.dispose();
  }
});

async function sentQuietly(rig: TestProxy, path: string, body: object): Promise<void> {
  const { status } = await exchange(rig.proxy.port, { path, body: JSON.stringify(body) });
  assert.is(status, 200);
}

test.after(closeClients);
test.run();
