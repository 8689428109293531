/** The vault's commands with a running proxy that has loaded the index. */
import { rmSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../engine/clock.ts';
import { openControl } from '../../server/control/control.ts';
import type { ControlCommands } from '../../server/control/control.ts';
import { vaultCommands } from '../../server/control/vault-commands.ts';
import { deferVault } from '../../stages/vault/deferred.ts';
import type { Place, Ran } from '../../fixtures/cli/run.ts';
import { json, logOf, withFiles } from '../../fixtures/cli/vault-files.ts';

const QUESTIONS = [
  ['search', 'flumbrick', 'gate'],
  ['search', 'flumbrick', 'gate', '--json'],
  ['search', 'flumbrick token', '--all', '--top', '1'],
  ['search', 'xyzzyqq'],
  ['index', '--status'],
  ['index', '--status', '--json'],
];

/**
 * Opens the control socket of a proxy in `place` that has `indexPath` open; `requests` records its
 * responses.
 */
async function withProxy(
  place: Place,
  indexPath: string,
  use: (requests: boolean[]) => Promise<void>,
): Promise<void> {
  const vault = deferVault({
    indexDir: indexPath,
    backend: 'json_blocks',
    clock: systemClock,
    newId: () => 'log',
  });
  const requests: boolean[] = [];
  const commands: ControlCommands = Object.fromEntries(
    Object.entries(vaultCommands(vault, { indexPath, backend: 'json_blocks' })).map(
      ([name, command]) => [
        name,
        async (input: unknown) => {
          const answer = (await command(input)) as { readonly ready: boolean };
          requests.push(answer.ready);
          return answer;
        },
      ],
    ),
  );
  const control = await openControl(place.home, commands, async () => Response.json({}));
  try {
    await use(requests);
  } finally {
    await control.close();
    await vault.close();
  }
}

test('a running proxy responds in place of the index, with the same text', async () => {
  await withFiles(async (place, svc) => {
    await svc('index', 'files', '-w', '1');
    const alone: Ran[] = [];
    for (const argv of QUESTIONS) alone.push(await svc(...argv));
    await withProxy(place, `${place.home}/.index`, async (requests) => {
      for (const [at, argv] of QUESTIONS.entries()) {
        assert.equal(await svc(...argv), alone[at], argv.join(' '));
      }
      assert.equal(requests, [true, true, true, true, true, true]);
    });
  });
});

test('a proxy with another index, or without any, is skipped', async () => {
  await withFiles(async (place, svc) => {
    await svc('index', 'files', '-w', '1');
    await withProxy(place, `${place.folder}/other`, async (requests) => {
      assert.is((await svc('search', 'flumbrick', 'gate')).code, 0);
      assert.equal(json((await svc('index', '--status', '--json')).stdout)['files'], 5);
      assert.equal(requests, [false, false]);
    });
    await withProxy(place, `${place.home}/.index`, async (requests) => {
      rmSync(logOf(place));
      const none = await svc('search', 'flumbrick', 'gate');
      assert.match(none.stderr, /There is no index yet/);
      assert.equal(requests, [false]);
    });
  });
});

test('if the proxy cannot respond, the command searches the index itself', async () => {
  await withFiles(async (place, svc) => {
    await svc('index', 'files', '-w', '1');
    const fail = () => {
      throw new Error('broken');
    };
    for (const commands of [{}, { 'vault-search': fail }, { 'vault-search': () => 'nothing' }]) {
      const control = await openControl(place.home, commands, async () => Response.json({}));
      const found = await svc('search', 'flumbrick', 'gate');
      assert.match(found.stdout, /gate\.md/);
      await control.close();
    }
  });
});

test.run();
