/** Small parts of translation: consecutive blocks, ids and marks, schemas, dropped fields. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createArguments } from '../generative/translate-arguments.ts';
import { noteDropped } from './dropped-fields.ts';
import { createCallMarks } from '../call-marks.ts';
import { answerId, toolIdFor } from './ids.ts';
import { parseArguments } from '../exact-json.ts';
import { parseDataUrl } from './media.ts';
import type { TranslatableDialect } from './translate.ts';
import { translateRequest } from './translate.ts';
import { fitsStrictMode, fromOpenApi } from './schema.ts';
import { BlockSerializer } from './block-serializer.ts';

test('a queued block is emitted whole, and closed blocks let the next one start', () => {
  const serial = new BlockSerializer();
  const text = { kind: 'text' as const };
  assert.equal(serial.open('a', text), [{ type: 'blockStart', block: text }]);
  assert.equal(serial.open('b', { kind: 'refusal' }), []);
  assert.equal(serial.delta('b', 'late'), []);
  assert.equal(serial.delta('a', ''), []);
  assert.equal(serial.delta('a', 'now'), [{ type: 'delta', text: 'now' }]);
  assert.equal(serial.close('b'), []);
  assert.equal(serial.close('a'), [
    { type: 'blockStop' },
    { type: 'blockStart', block: { kind: 'refusal' } },
    { type: 'delta', text: 'late' },
    { type: 'blockStop' },
  ]);
  assert.equal(serial.close('a'), []);
  assert.equal(serial.closeAll(), []);
});

test('accepted ids are unchanged, and any other is replaced by the same id every time', () => {
  assert.is(toolIdFor('messages', 'toolu_1'), 'toolu_1');
  const unknown = toolIdFor('messages', 'functions.f:0');
  assert.is(unknown, toolIdFor('messages', 'functions.f:0'));
  assert.is.not(unknown, toolIdFor('messages', 'functions.f:1'));
  assert.ok(toolIdFor('chat', 'x'.repeat(41)).length <= 40);
  assert.is(
    answerId('msg_', 'msg_1', () => 'r'),
    'msg_1',
  );
  assert.is(
    answerId('msg_', 'chatcmpl-1', () => 'r'),
    'msg_chatcmpl-1',
  );
  assert.is(
    answerId('msg_', '', () => 'r'),
    'msg_r',
  );
});

test('an effort without a thinking setting is translated, or noted where there is none', () => {
  const translated = (to: TranslatableDialect, model: string, more: object) => {
    const messages = [{ role: 'user', content: 'u' }];
    const body = { model, max_tokens: 5, messages, ...more };
    const marks = createCallMarks().of('');
    const translation = translateRequest('messages', to, body, { target: '/v1/messages', marks });
    assert.ok(!('skip' in translation));
    return translation;
  };
  const low = { output_config: { effort: 'low' } };
  assert.is(translated('chat', 'gpt-5', low).body['reasoning_effort'], 'low');
  assert.equal(translated('responses', 'gpt-5', low).body['reasoning'], { effort: 'low' });
  const generative = translated('generative', 'gemini-3-pro', low).body['generationConfig'];
  assert.match(JSON.stringify(generative), '"thinkingLevel":"low"');
  assert.match(translated('chat', 'gpt-4o', low).notes.join(), 'reasoning left out');
  const off = translated('chat', 'gpt-5', { ...low, thinking: { type: 'disabled' } });
  assert.is(off.body['reasoning_effort'], undefined);
  assert.match(off.notes.join(), 'output_config.effort left out');
  const unknown = translated('chat', 'gpt-5', { output_config: { effort: 'ultra' } });
  assert.match(unknown.notes.join(), 'output_config.effort left out');
});

test('call marks are kept by conversation, provider and call, up to a number and a size', () => {
  const call = (id: string, input = '{}') => ({ id, name: 'f', input });
  const marks = createCallMarks();
  const here = marks.of('here');
  here.put('chat', call('call_0', '{ "a": 1.0 }'), 'first');
  here.put('chat', call('call_0', '{"b":2}'), 'second');
  assert.is(
    here.get('chat', call('call_0', '{"a":1.0}')),
    'first',
    'the spelling makes no difference',
  );
  assert.is(here.get('chat', call('call_0', '{"c":3}')), 'second', 'the id is enough');
  assert.is(here.get('generative', call('call_0', '{"b":2}')), undefined);
  assert.is(marks.of('there').get('chat', call('call_0', '{"b":2}')), undefined);

  // For a client without ids: by name and arguments, and by position among equal calls.
  const poll = { id: 'x', name: 'poll', input: '{}' };
  here.put('chat', { ...poll, place: 1 }, 'third');
  here.put('chat', { ...poll, place: 3 }, 'fourth');
  const unnamed = { ...poll, id: 'call_1_0', hasOwnId: false };
  assert.is(here.get('chat', { ...unnamed, place: 1 }), 'third');
  assert.is(here.get('chat', { ...unnamed, place: 3 }), 'fourth');
  assert.is(here.get('chat', { ...unnamed, place: 9 }), 'fourth', 'the newest of the moved parts');
  assert.is(here.get('chat', { ...unnamed, place: 1, name: 'read' }), undefined);
  assert.is(here.get('chat', { ...unnamed, place: 1, input: '{"a":1}' }), undefined);
  assert.is(here.get('chat', poll), 'fourth', 'an id is still looked up');

  // Each mark is stored under two keys.
  const byNumber = createCallMarks(4, 100).of('');
  for (const id of ['a', 'b']) byNumber.put('chat', call(id), id);
  assert.is(byNumber.get('chat', call('a')), 'a');
  byNumber.put('chat', call('c'), 'c');
  assert.is(byNumber.get('chat', call('b')), undefined);
  const bySize = createCallMarks(20, 12).of('');
  bySize.put('chat', call('a'), 'xxxxxx');
  bySize.put('chat', call('b'), 'yyyyyy');
  assert.is(bySize.get('chat', call('a')), undefined);
  bySize.put('chat', call('c'), 'z'.repeat(13));
  assert.is(bySize.get('chat', call('c')), undefined);
});

test('argument pieces build objects and lists, and no path pollutes a prototype', () => {
  const growing = createArguments();
  growing.add({ jsonPath: '$.a[1].b', numberValue: 2 });
  growing.add({ jsonPath: '$.a[0]', stringValue: 'x' });
  growing.add({ jsonPath: "$['odd key']", boolValue: true });
  growing.add({ jsonPath: '$.none', nullValue: 'NULL_VALUE' });
  growing.add({ jsonPath: '$.a[99999999].b', stringValue: 'far' });
  growing.add({ jsonPath: '$.__proto__.polluted', stringValue: 'yes' });
  growing.add({ jsonPath: '', stringValue: 'nowhere' });
  assert.equal(
    growing.json(),
    '{"a":["x",{"b":2}],"odd key":true,"none":null,"__proto__":{"polluted":"yes"}}',
  );
  assert.is(({} as { injected?: string }).injected, undefined);
});

test('schemas in OpenAPI notation become JSON Schema, and property names are kept', () => {
  const schema = {
    type: 'OBJECT',
    properties: {
      type: { type: 'STRING', enum: ['OBJECT'] },
      list: { type: 'ARRAY', items: { type: 'INTEGER' }, min_items: '2' },
      choice: { any_of: [{ type: 'NUMBER' }, { type: 'STRING', nullable: true }] },
    },
    property_ordering: ['type'],
    required: ['type'],
  };
  assert.equal(fromOpenApi(schema), {
    type: 'object',
    properties: {
      type: { type: 'string', enum: ['OBJECT'] },
      list: { type: 'array', items: { type: 'integer' }, minItems: 2 },
      choice: { anyOf: [{ type: 'number' }, { type: ['string', 'null'] }] },
    },
    required: ['type'],
  });
});

test('strict mode fits only schemas that are closed at every level', () => {
  const closed = {
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
    additionalProperties: false,
  };
  assert.is(fitsStrictMode(closed), true);
  assert.is(fitsStrictMode({ ...closed, required: [] }), false);
  assert.is(fitsStrictMode({ type: 'array', items: { type: 'object' } }), false);
});

test('a dropped field is noted with its reason, an unknown one as unknown, and a null one not at all', () => {
  const notes: string[] = [];
  const body = { metadata: {}, brand_new: 1, speed: null, model: 'm' };
  noteDropped('messages', body, new Set(['model']), (note) => notes.push(note));
  assert.is(notes.length, 2);
  assert.match(notes[0]!, /^metadata left out: identifies/);
  assert.match(notes[1]!, /^brand_new left out: unknown/);
});

test('arguments and data URLs are read strictly', () => {
  assert.equal(parseArguments(' '), {});
  assert.is(parseArguments('[1]'), undefined);
  assert.is(parseArguments('{"a"'), undefined);
  assert.equal(parseDataUrl('data:image/png;base64,aGk='), {
    mediaType: 'image/png',
    data: 'aGk=',
  });
  assert.is(parseDataUrl('data:text/plain,hi'), undefined);
  assert.is(parseDataUrl('https://example.com'), undefined);
});

test.run();
