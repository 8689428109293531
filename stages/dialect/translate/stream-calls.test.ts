/** Calls in a chat server's stream are kept apart, whatever it omits or repeats. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { chunk, datas, make, run, types } from '../../../fixtures/dialect/translation.ts';

test('calls that a server all numbers 0, or ends with the reason stop, are understood', () => {
  const call = (id: string): object =>
    chunk({ tool_calls: [{ index: 0, id, function: { name: 'f', arguments: '{}' } }] });
  const wire = run(make('chat', 'messages'), [call('a'), call('b'), chunk({}, 'stop'), '[DONE]']);
  assert.is(types(wire).filter((type) => type === 'content_block_start').length, 2);
  assert.match(wire, /"stop_reason":"tool_use"/);
});

interface Block {
  type: string;
  index: number;
  content_block?: { name?: string; id?: string };
  delta?: { partial_json?: string };
}

/**
 * Returns the calls that a messages client gets from `deltas` of a chat server, as
 * `name(arguments)`.
 */
function callsFrom(deltas: readonly object[]): string[] {
  const wire = run(make('chat', 'messages'), [
    ...deltas.map((calls) => chunk({ tool_calls: calls })),
    chunk({}, 'tool_calls'),
    '[DONE]',
  ]);
  const calls: { name: string; id: string; input: string }[] = [];
  for (const event of datas(wire) as unknown as Block[]) {
    assert.is.not(event.type, 'error', wire);
    if (event.type === 'content_block_start') {
      calls[event.index] = {
        name: event.content_block?.name ?? '',
        id: event.content_block?.id ?? '',
        input: '',
      };
    }
    if (event.type === 'content_block_delta')
      calls[event.index]!.input += event.delta?.partial_json ?? '';
  }
  assert.is(new Set(calls.map(({ id }) => id)).size, calls.length, 'ids are distinct');
  return calls.map(({ name, input }) => `${name}(${input})`);
}

/** Returns a piece of a call; undefined members are left out. */
function part(index: unknown, id: string | undefined, name?: string, text?: unknown): object {
  return { index, id, type: 'function', function: { name, arguments: text } };
}

test('parallel calls are kept apart, however a server numbers and names them', () => {
  const [a, b] = ['{"x":1}', '{"y":2}'];
  const cases: Record<string, readonly object[]> = {
    'one delta, neither number nor id': [
      [part(undefined, '', 'a', a), part(undefined, '', 'b', b)],
    ],
    'one delta, null for both': [[part(null, undefined, 'a', a), part(null, undefined, 'b', b)]],
    'one delta, all numbered 0': [[part(0, undefined, 'a', a), part(0, undefined, 'b', b)]],
    'all numbered 0 without ids': [[part(0, undefined, 'a', a)], [part(0, undefined, 'b', b)]],
    'no numbers and no ids': [
      [part(undefined, undefined, 'a', a)],
      [part(undefined, undefined, 'b', b)],
    ],
    'numbers from 1': [[part(1, 'i', 'a', a)], [part(2, 'j', 'b', b)]],
    'numbers as strings': [
      [part('0', 'i', 'a', ''), part('1', 'j', 'b', '')],
      [part('0', undefined, undefined, a)],
      [part('1', undefined, undefined, b)],
    ],
    'arguments as objects': [[part(0, '', 'a', { x: 1 }), part(0, '', 'b', { y: 2 })]],
    'the name in every piece': [
      [part(0, undefined, 'a', '')],
      [part(0, undefined, 'a', '{"x"')],
      [part(0, undefined, 'a', ':1}')],
      [part(0, undefined, 'a', '')],
      [part(0, undefined, 'b', '{"y"')],
      [part(0, undefined, 'b', ':2}')],
    ],
    'the id in every piece': [
      [part(undefined, 'i', 'a', '{"x"'), part(undefined, 'j', 'b', '{"y"')],
      [part(undefined, 'j', undefined, ':2}'), part(undefined, 'i', undefined, ':1}')],
    ],
    'id and name in every piece, in turn': [
      [part(0, 'i', 'a', '')],
      [part(1, 'j', 'b', '')],
      [part(0, 'i', 'a', '{"x":1')],
      [part(1, 'j', 'b', b)],
      [part(0, 'i', 'a', '}')],
    ],
    'another id in every piece': [
      [part(0, 'i1', 'a', '{"x"')],
      [part(0, 'i2', 'a', ':1}')],
      [part(0, 'i3', 'b', '{"y"')],
      [part(0, 'i4', undefined, ':2}')],
    ],
    'the same id for all': [[part(0, 'i', 'a', a)], [part(1, 'i', 'b', b)]],
    'lists without numbers': [
      [part(undefined, undefined, 'a', ''), part(undefined, undefined, 'b', '')],
      [
        part(undefined, undefined, undefined, '{"x"'),
        part(undefined, undefined, undefined, '{"y"'),
      ],
      [part(undefined, undefined, undefined, ':1}'), part(undefined, undefined, undefined, ':2}')],
    ],
  };
  for (const [name, deltas] of Object.entries(cases)) {
    assert.equal(callsFrom(deltas), [`a(${a})`, `b(${b})`], name);
  }
});

test('several calls of one tool are several calls', () => {
  const cases: Record<string, readonly object[]> = {
    'one delta': [[part(undefined, '', 'a', '{"x":1}'), part(undefined, '', 'a', '{"x":2}')]],
    'numbered 0': [[part(0, undefined, 'a', '{"x":1}')], [part(0, undefined, 'a', '{"x":2}')]],
    'the arguments later': [
      [part(0, undefined, 'a', '')],
      [part(0, undefined, undefined, '{"x":1}')],
      [part(0, undefined, 'a', '')],
      [part(0, undefined, undefined, '{"x"')],
      [part(0, undefined, undefined, ':2}')],
    ],
    'the same id': [[part(0, 'i', 'a', '{"x":1}')], [part(1, 'i', 'a', '{"x":2}')]],
  };
  for (const [name, deltas] of Object.entries(cases)) {
    assert.equal(callsFrom(deltas), ['a({"x":1})', 'a({"x":2})'], name);
  }
  assert.equal(callsFrom([[part(0, '', 'a', '')], [part(0, '', 'b', '')]]), ['a()', 'b()']);
});

test('whole answers: calls without ids or with equal ids get unique ids', () => {
  for (const id of [undefined, '', 'i']) {
    const calls = ['a', 'b'].map((name) => part(undefined, id, name, '{}'));
    const message = { role: 'assistant', content: null, tool_calls: calls };
    const body = { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
    const answer = make('chat', 'messages').json(body).toString();
    const { content } = JSON.parse(answer) as { content: { id: string }[] };
    assert.is(new Set(content.map((block) => block.id)).size, 2, String(id));
  }
});

test.run();
