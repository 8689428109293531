/**
 * Every command of the specification and every one that is registered, run beside a proxy that
 * serves: each has a row that looks at what it changed, or counts what it printed again. The
 * lists are held against each other, so that a command without a row fails.
 */
import { readdirSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { configureEffects } from '../../fixtures/cli/effects/configure-effects.ts';
import type { Effect } from '../../fixtures/cli/effects/effect.ts';
import { extendEffects } from '../../fixtures/cli/effects/extend-effects.ts';
import { figureEffects } from '../../fixtures/cli/effects/figure-effects.ts';
import { lookEffects } from '../../fixtures/cli/effects/look-effects.ts';
import { runEffects } from '../../fixtures/cli/effects/run-effects.ts';
import { vaultEffects } from '../../fixtures/cli/effects/vault-effects.ts';
import { conversation, withLive } from '../../fixtures/cli/live.ts';
import type { Live } from '../../fixtures/cli/live.ts';
import { SPECIFIED } from '../../fixtures/cli/specified.ts';
import { loadDefinitions } from '../parse/definitions.ts';
import { pathOf } from '../parse/syntax.ts';
import { isOwnData } from '../service/own-data.ts';

const EFFECTS: readonly Effect[] = [
  ...figureEffects,
  ...lookEffects,
  ...vaultEffects,
  ...configureEffects,
  ...runEffects,
  ...extendEffects,
];

const rows = new Set(EFFECTS.map(([command]) => command));

/** Requests whose figures differ: two models, one with much to save, one that fails. */
async function traffic(live: Live): Promise<void> {
  await live.ask('claude-sonnet-4-5', 'hello');
  await live.ask('claude-haiku-4-5', 'hello there');
  await live.ask('claude-sonnet-4-5', conversation('machine'));
  live.upstream.script(undefined, '500', { times: 1 });
  await live.ask('claude-sonnet-4-5', 'this fails');
}

/** The command lines of `command` that were run, each without the words of its name. */
function callsOf(live: Live, command: string, from = 0): readonly (readonly string[])[] {
  const words = command.split(' ');
  return live.calls
    .slice(from)
    .filter((argv) => words.every((word, at) => argv[at] === word))
    .map((argv) => argv.slice(words.length));
}

test('every registered command has a row, and every row is of one', async () => {
  const registered = (await loadDefinitions()).map((one) => pathOf(one).join(' '));
  assert.equal(
    registered.filter((command) => !rows.has(command)),
    [],
    'commands without a row',
  );
  assert.equal(
    [...rows].filter((command) => !registered.includes(command)),
    [],
    'rows without a command',
  );
  assert.is(rows.size, EFFECTS.length);
});

test('every command has its effect, and those of the specification were run with its options', () =>
  withLive(async (live) => {
    await traffic(live);
    const failed: string[] = [];
    for (const [command, effect] of EFFECTS) {
      const before = live.calls.length;
      try {
        await effect(live);
        assert.ok(callsOf(live, command, before).length > 0, 'the row does not run it');
      } catch (thrown) {
        const { message, stack } = thrown as Error;
        failed.push(`${command}: ${message}\n${stack ?? ''}`);
      }
    }
    assert.equal(failed, [], failed.join('\n\n'));
    assert.equal(
      readdirSync(live.place.home).filter((name) => !isOwnData(name)),
      [],
      '`svc uninstall --data` would leave what svc has made',
    );
    const missing = SPECIFIED.flatMap(({ command, options = [] }) => {
      const calls = callsOf(live, command).flat();
      return [
        ...(rows.has(command) ? [] : [command]),
        ...options.filter((option) => !calls.includes(option)).map((one) => `${command} ${one}`),
      ];
    });
    assert.equal(missing, [], 'of the specification');
  }));

test.run();
