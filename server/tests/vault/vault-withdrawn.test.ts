import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../engine/index.ts';
import type { Clock } from '../../../engine/index.ts';
import { forgetFolder } from '../../../stages/vault/indexing/forget.ts';
import { layoutOf } from '../../../stages/vault/log/layout.ts';
import { openLock } from '../../../stages/lock.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { closeClients } from '../../../fixtures/server/exchange.ts';
import { ABSENT, DIALECTS, forwardedBody, withVault } from '../../../fixtures/server/vault.ts';
import type { VaultPlace } from '../../../fixtures/server/vault.ts';

const [MESSAGES] = DIALECTS;
const QUESTION = 'When does the flumbrick gate open?';
const first = MESSAGES.body([MESSAGES.user(QUESTION)]);
const later = MESSAGES.body([
  MESSAGES.user(QUESTION),
  MESSAGES.assistant('Later.'),
  MESSAGES.user(ABSENT),
]);

/**
 * Returns what a conversation sends after `change`, given that the text added before contained
 * `word`.
 */
async function sentAfter(
  word: string,
  change: (rig: TestProxy, place: VaultPlace) => Promise<unknown>,
  files?: Record<string, string>,
): Promise<readonly string[]> {
  let bodies: string[] = [];
  const use = async (rig: TestProxy, place: VaultPlace): Promise<void> => {
    assert.match(await forwardedBody(rig, MESSAGES.path, first), word);
    await change(rig, place);
    bodies = [
      await forwardedBody(rig, MESSAGES.path, later),
      await forwardedBody(rig, MESSAGES.path, first),
    ];
  };
  await withVault(use, files === undefined ? {} : { files });
  return bodies;
}

test('a block that became secret is not sent again in any turn of a conversation', async () => {
  const block = { id: 'k', content: 'The flumbrick gate opens with the word sommerregen.' };
  await withVault(
    async (rig) => {
      await rig.proxy.services.vault.ingest([block]);
      assert.match(await forwardedBody(rig, MESSAGES.path, first), 'sommerregen');
      await rig.proxy.services.vault.ingest([{ ...block, riskClass: 'secret' }]);
      assert.is(await forwardedBody(rig, MESSAGES.path, later), JSON.stringify(later));
      assert.is(await forwardedBody(rig, MESSAGES.path, first), JSON.stringify(first));
    },
    { files: { 'lamp.md': 'A lamp.\n' } },
  );
});

test('a forgotten block is not sent again', async () => {
  const forget = (_rig: TestProxy, { files, env }: VaultPlace) =>
    forgetFolder({ root: files, indexDir: env['SVC_VAULT_INDEX']!, newId: () => 'forgotten' });
  assert.equal(await sentAfter('quorble', forget), [JSON.stringify(later), JSON.stringify(first)]);
});

test('a file that is now excluded is not sent again', async () => {
  for (const change of [
    { '.gitignore': '/gate.*\n' },
    { 'gate.md': `${'x'.repeat(1_100_000)}\n` },
  ]) {
    const after = await sentAfter('quorble', async (_rig, place) => {
      place.write(change);
      await place.index();
    });
    assert.is(after[0], JSON.stringify(later));
    assert.not.match(after[1]!, 'quorble');
  }
});

test('a changed or deleted file, or folder above it, leaves earlier turns unchanged', async () => {
  for (const change of [
    async (_rig: TestProxy, place: VaultPlace) => {
      place.write({ 'gate.md': '# Another\n\nThe flumbrick gate is shut.\n' });
      await place.index();
    },
    async (_rig: TestProxy, place: VaultPlace) => {
      rmSync(join(place.files, 'gate.md'));
      await place.index();
    },
    (_rig: TestProxy, place: VaultPlace) => place.index(place.folder),
  ]) {
    const [body] = await sentAfter('quorble', change);
    assert.match(body!, 'pulled twice');
  }
});

test('requests wait at most once for a vault that is not ready', async () => {
  let waits = 0;
  const after: Clock['after'] = (ms, run) => {
    if (ms === 200) waits++;
    return systemClock.after(ms, run);
  };
  const use = async (rig: TestProxy, place: VaultPlace): Promise<void> => {
    const body = await forwardedBody(rig, MESSAGES.path, first);
    assert.match(body, 'quorble');
    place.write({ 'new.md': 'The snozzwick lamp.\n' });
    // Another process holds the database lock, so new log entries cannot be read.
    const lock = openLock(layoutOf(place.env['SVC_VAULT_INDEX']!).syncLock);
    const release = await lock.acquire();
    await place.index();
    waits = 0;
    const next = MESSAGES.body([
      MESSAGES.user(QUESTION),
      MESSAGES.assistant('Later.'),
      MESSAGES.user('And the zandrel lamp?'),
    ]);
    const late = await forwardedBody(rig, MESSAGES.path, next);
    release();
    lock.close();
    assert.match(late, 'quorble');
    assert.not.match(late, 'mirrow');
    assert.is(waits, 1);
  };
  const env = { SVC_RETRIEVAL_BACKEND: 'sqlite' };
  await withVault(use, { env, clock: { ...systemClock, after } });
});

test.after(closeClients);
test.run();
