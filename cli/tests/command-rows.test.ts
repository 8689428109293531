/** Every registered command has a row that tries it (`every-command.full.test.ts`). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { COMMAND_EFFECTS } from '../../fixtures/cli/effects/command-effects.ts';
import { loadDefinitions } from '../parse/definitions.ts';
import { pathOf } from '../parse/syntax.ts';

const rows = new Set(COMMAND_EFFECTS.map(([command]) => command));

test('every registered command has a row in the table, and every row a command', async () => {
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
  assert.is(rows.size, COMMAND_EFFECTS.length);
});

test.run();
