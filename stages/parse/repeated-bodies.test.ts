import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { dialects } from '../dialect/registry.ts';
import type { DialectName } from '../model/dialect.ts';
import { measureJson } from '../wire/json-size.ts';
import { createRepeatedBodies } from './repeated-bodies.ts';
import type { RepeatedBodies } from './repeated-bodies.ts';

const TEXT = 'The build of module {7} failed: "a\\b" ü 漢 \u2028. '.repeat(400);
/** Longer than a body that is not worth comparing. */
const TURNS = 12;

/** Bodies of a conversation, each with one turn more. */
const BODIES: Readonly<Record<string, (turns: number) => object>> = {
  messages: (turns) => ({
    model: 'm',
    system: [{ type: 'text', text: 'Be brief.' }],
    messages: turnsOf(turns).flatMap((n) => [
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: `t${n}`, name: 'Bash', input: { n } }],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: `t${n}`, content: `${n} ${TEXT}` }],
      },
    ]),
    tools: [{ name: 'Bash', input_schema: {} }],
  }),
  chat: (turns) => ({
    messages: turnsOf(turns).flatMap((n) => [
      {
        role: 'assistant',
        tool_calls: [{ id: `t${n}`, function: { name: 'Bash', arguments: `{"n":${n}}` } }],
      },
      { role: 'tool', tool_call_id: `t${n}`, content: `${n} ${TEXT}` },
    ]),
    model: 'm',
  }),
  responses: (turns) => ({
    instructions: 'Be brief.',
    input: turnsOf(turns).flatMap((n) => [
      { type: 'function_call', call_id: `t${n}`, name: 'Bash', arguments: `{"n":${n}}` },
      { type: 'function_call_output', call_id: `t${n}`, output: `${n} ${TEXT}` },
    ]),
  }),
  generative: (turns) => ({
    contents: turnsOf(turns).flatMap((n) => [
      { role: 'model', parts: [{ functionCall: { name: 'bash', args: { n } } }] },
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'bash', response: { output: `${n} ${TEXT}` } } }],
      },
    ]),
  }),
};

const turnsOf = (turns: number): readonly number[] => Array.from({ length: turns }, (_, n) => n);

/** Reads a body as the stage does. */
function read(bodies: RepeatedBodies, dialect: DialectName, bytes: Buffer) {
  const repeated = bodies.parse(bytes, dialect);
  if (repeated !== undefined) return { isRepeated: true, ...repeated };
  const json: unknown = JSON.parse(bytes.toString('utf8'));
  const history = bodies.add(bytes, dialect, json, measureJson(bytes));
  return { isRepeated: false, json, history };
}

/** Reads `bytes` after the bodies in `before`, and checks that it is read as if it were alone. */
function check(dialect: DialectName, before: readonly Buffer[], bytes: Buffer): boolean {
  const bodies = createRepeatedBodies();
  for (const each of before) {
    const { json, history } = read(bodies, dialect, each);
    dialects[dialect].blocks(json, history);
  }
  const { isRepeated, json, history } = read(bodies, dialect, bytes);
  const alone: unknown = JSON.parse(bytes.toString('utf8'));
  assert.equal(JSON.stringify(json), JSON.stringify(alone));
  assert.equal(dialects[dialect].blocks(json, history), dialects[dialect].blocks(alone));
  return isRepeated;
}

const toBytes = (json: unknown, indent = 0): Buffer =>
  Buffer.from(JSON.stringify(json, null, indent));

for (const [name, bodyOf] of Object.entries(BODIES)) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table's own names
  const dialect = name as DialectName;

  test(`${dialect}: every next turn is read as if it were the first, with the messages before it shared`, () => {
    for (const indent of [0, 2]) {
      const bodies = createRepeatedBodies();
      let last: ReturnType<typeof read> | undefined;
      let lastBlocks: readonly object[] = [];
      for (let turns = TURNS; turns < TURNS + 4; turns += 1) {
        const bytes = toBytes(bodyOf(turns), indent);
        const next = read(bodies, dialect, bytes);
        const blocks = dialects[dialect].blocks(next.json, next.history);
        assert.equal(next.json, bodyOf(turns));
        assert.equal(blocks, dialects[dialect].blocks(bodyOf(turns)));
        assert.is(next.isRepeated, last !== undefined);
        const shared = blocks.filter((block, at) => block === lastBlocks[at]).length;
        assert.is(
          shared >= lastBlocks.length - 3,
          true,
          `${shared} of ${lastBlocks.length} shared`,
        );
        [last, lastBlocks] = [next, blocks];
      }
    }
  });

  test(`${dialect}: a body that was changed anywhere is read as it is`, () => {
    const base = toBytes(bodyOf(TURNS));
    const longer = toBytes(bodyOf(TURNS + 1)).toString('utf8');
    let repeated = 0;
    for (let at = 0; at < longer.length; at += 6007)
      for (const written of ['"', 'x', '7']) {
        const changed = longer.slice(0, at) + written + longer.slice(at + 1);
        try {
          JSON.parse(changed);
        } catch {
          const bodies = createRepeatedBodies();
          read(bodies, dialect, base);
          assert.throws(() => read(bodies, dialect, Buffer.from(changed)));
          continue;
        }
        if (check(dialect, [base], Buffer.from(changed))) repeated += 1;
      }
    assert.is(repeated > 5, true, `${repeated} with a repeated beginning`);
  });
}

test('a conversation that branches, shrinks or is sent again is read as it is', () => {
  const branch = BODIES['messages']!(TURNS + 2) as { messages: unknown[] };
  branch.messages.splice(-3, 2, { role: 'user', content: 'Something else.' });
  const bodies = [TURNS, TURNS + 2, TURNS - 1, TURNS - 1].map((turns) =>
    toBytes(BODIES['messages']!(turns)),
  );
  const all = [...bodies, toBytes(branch)];
  for (const one of all)
    for (const other of all) assert.is(check('messages', [one, other], one), true);
});

test('a second member of the same name counts, as it does for JSON.parse', () => {
  const before = toBytes(BODIES['messages']!(TURNS));
  const longer = toBytes(BODIES['messages']!(TURNS + 1)).toString('utf8');
  const twice = `${longer.slice(0, -1)},"messages":[{"role":"user","content":"Only this."}]}`;
  assert.is(check('messages', [before], Buffer.from(twice)), false);
  const hidden = longer.replace('"model"', '"messages":[1,2],"model"');
  check('messages', [before], Buffer.from(hidden));
  check('messages', [Buffer.from(hidden)], Buffer.from(hidden.replace('[1,2]', '[1,2,3]')));
});

test('numbers that only begin alike are not taken for the same item', () => {
  const list = (last: string): Buffer =>
    Buffer.from(`{"messages":[{"role":"user","content":"${'x'.repeat(70_000)}"},1${last}`);
  check('messages', [list(',{"a":1}]}')], list('2,{"a":1}]}'));
  check('messages', [list(']}')], list('2]}'));
});

test('another dialect does not reuse what was read', () => {
  const bodies = createRepeatedBodies();
  const bytes = toBytes(BODIES['messages']!(TURNS));
  read(bodies, 'messages', bytes);
  assert.is(bodies.parse(bytes, 'chat'), undefined);
  assert.is.not(bodies.parse(bytes, 'messages'), undefined);
});

test('only the newest bodies are kept', () => {
  const bodies = createRepeatedBodies();
  const all = Array.from({ length: 17 }, (_, n) =>
    toBytes({ ...BODIES['messages']!(TURNS), model: `m${n}` }),
  );
  for (const bytes of all) read(bodies, 'messages', bytes);
  assert.is(bodies.parse(all[0]!, 'messages'), undefined);
  assert.is.not(bodies.parse(all[1]!, 'messages'), undefined);
});

test('a conversation that gains too many values is no longer parsed as its continuation', () => {
  const bodies = createRepeatedBodies();
  const message = { role: 'user', content: Array.from({ length: 12_000 }, () => ({ a: 1 })) };
  const bodyOf = (count: number): Buffer =>
    toBytes({ messages: Array.from({ length: count }, () => message) });
  assert.is(read(bodies, 'messages', bodyOf(1)).isRepeated, false);
  assert.is(read(bodies, 'messages', bodyOf(2)).isRepeated, true);
  assert.is(bodies.parse(bodyOf(4), 'messages'), undefined);
});

test.run();
