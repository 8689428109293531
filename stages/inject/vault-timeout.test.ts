import { setTimeout as wait } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock, systemClock } from '../../engine/clock.ts';
import type { Clock } from '../../engine/clock.ts';
import type { Vault } from '../vault/contract.ts';
import { createVaultInTime } from './vault-timeout.ts';

/** Unlike those of the real clock, its timers keep the process alive. */
const clock: Clock = {
  ...systemClock,
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Returns a vault that can only tell whether it is ready. */
function vaultThat(isReady: () => boolean): Vault {
  return { isReady } as Partial<Vault> as Vault;
}

test('returns a result that is in time, and passes an error on', async () => {
  const vault = createVaultInTime(
    vaultThat(() => true),
    clock,
  );
  assert.is(await vault.ask(() => Promise.resolve(1)), 1);
  const failed = await vault.ask(() => Promise.reject(new Error('damaged'))).catch(String);
  assert.is(failed, 'Error: damaged');
  assert.is(await vault.ask(() => Promise.resolve(2)), 2);
});

test('skips the vault without waiting until a call that took too long has ended', async () => {
  const vault = createVaultInTime(
    vaultThat(() => true),
    clock,
  );
  for (const settle of ['resolve', 'reject'] as const) {
    let end: () => void = () => undefined;
    const slow = new Promise<number>((resolve, reject) => {
      end = () => (settle === 'resolve' ? resolve(1) : reject(new Error('late')));
    });
    let calls = 0;
    const ask = () => vault.ask(() => (calls++, calls === 1 ? slow : Promise.resolve(calls)));
    assert.is(await ask(), undefined);
    assert.is(await ask(), undefined);
    assert.is(calls, 1);
    end();
    await wait(1);
    assert.is(await ask(), 2);
  }
});

test('waits for the index to open until the first result', async () => {
  const manual = createManualClock(0);
  const vault = createVaultInTime(
    vaultThat(() => true),
    manual,
  );
  let open: (found: number) => void = () => undefined;
  const opening = new Promise<number>((resolve) => (open = resolve));
  const first = vault.ask(() => opening);
  manual.advance(1999);
  open(1);
  assert.is(await first, 1);
  const later = vault.ask(() => new Promise<number>(() => undefined));
  manual.advance(200);
  assert.is(await later, undefined, 'later reads repair the index, which takes longer');
});

test('does not query a vault that is not ready', async () => {
  let isReady = false;
  const vault = createVaultInTime(
    vaultThat(() => isReady),
    clock,
  );
  assert.is(await vault.ask(() => Promise.reject(new Error('asked'))), undefined);
  isReady = true;
  assert.is(await vault.ask(() => Promise.resolve(1)), 1);
});

test.run();
