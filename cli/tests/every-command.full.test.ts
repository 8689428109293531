/**
 * Every specified and every registered command, run with a running proxy: each has a row that
 * checks what it changed, or recounts what it printed. `command-rows.test.ts` checks that each has
 * one.
 */
import { readdirSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { COMMAND_EFFECTS } from '../../fixtures/cli/effects/command-effects.ts';
import { conversation, withLive } from '../../fixtures/cli/live.ts';
import type { Live } from '../../fixtures/cli/live.ts';
import { SPECIFIED } from '../../fixtures/cli/specified-commands.ts';
import { isOwnData } from '../service/own-data.ts';

const rows = new Set(COMMAND_EFFECTS.map(([command]) => command));

/** Sends requests with different figures: two models, one with large savings, one that fails. */
async function traffic(live: Live): Promise<void> {
  await live.ask('claude-sonnet-4-5', 'hello');
  await live.ask('claude-haiku-4-5', 'hello there');
  await live.ask('claude-sonnet-4-5', conversation('machine'));
  live.upstream.script(undefined, '500', { times: 1 });
  await live.ask('claude-sonnet-4-5', 'this fails');
}

/** Returns the command lines of `command` that were run, each without its name. */
function callsOf(live: Live, command: string, from = 0): readonly (readonly string[])[] {
  const words = command.split(' ');
  return live.calls
    .slice(from)
    .filter((argv) => words.every((word, at) => argv[at] === word))
    .map((argv) => argv.slice(words.length));
}

test('every command has its effect, and every specified one was run with its options', () =>
  withLive(async (live) => {
    await traffic(live);
    const failed: string[] = [];
    for (const [command, effect] of COMMAND_EFFECTS) {
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
      '`svc uninstall --data` would leave files that svc created',
    );
    const missing = SPECIFIED.flatMap(({ command, options = [] }) => {
      const calls = callsOf(live, command).flat();
      return [
        ...(rows.has(command) ? [] : [command]),
        ...options.filter((option) => !calls.includes(option)).map((one) => `${command} ${one}`),
      ];
    });
    assert.equal(missing, [], 'every command and option of the specification was run');
  }));

test.run();
