import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/index.ts';
import { openKeyStore } from '../auth/auth.ts';
import { loadText } from '../../fixtures/server/config-text.ts';
import { keysFile, openBindFaults, refuseOpenBind } from './open-bind.ts';

test('a generated key allows listening for other machines, until it is revoked or expires', async () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-bind-'));
  try {
    const clock = createManualClock(1_800_000_000_000);
    const nowMs = () => clock.wallMs();
    const env = { SVC_HOME: home };
    const loaded = await loadText({ env, flags: { 'server.host': '0.0.0.0' } });
    assert.throws(() => refuseOpenBind(loaded.config, nowMs()), /there is no proxy key/);
    assert.is(openBindFaults(loaded, nowMs()).length, 1);
    const file = keysFile(home);
    const store = openKeyStore({ file, clock, random: (size) => Buffer.alloc(size, 7) });
    store.create({ label: 'laptop', expiresInS: 60 });
    refuseOpenBind(loaded.config, nowMs());
    assert.equal(openBindFaults(loaded, nowMs()), []);
    clock.advance(60_000);
    assert.throws(() => refuseOpenBind(loaded.config, nowMs()), /there is no proxy key/);
    store.create({ label: 'phone' });
    refuseOpenBind(loaded.config, nowMs());
    store.revoke('phone');
    assert.throws(() => refuseOpenBind(loaded.config, nowMs()), /there is no proxy key/);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

test.run();
