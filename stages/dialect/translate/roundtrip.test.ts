/** Each dialect reads back what it writes: random responses, streams and requests. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createParser } from 'eventsource-parser';
import { emptyUsage } from '../../model/usage.ts';
import type {
  CanonicalBlock,
  CanonicalEvent,
  CanonicalMessage,
  CanonicalRequest,
  CanonicalResponse,
  WireEvent,
} from '../canonical.ts';
import { chatTranslation } from '../chat/translate-dialect.ts';
import { generativeTranslation } from '../generative/translate-dialect.ts';
import { messagesTranslation } from '../messages/translate-dialect.ts';
import { responsesTranslation } from '../responses/translate-dialect.ts';
import { responseEvents } from './answer.ts';
import type { AnswerContext, DialectTranslation } from './dialect.ts';
import { createCallMarks } from '../call-marks.ts';
import { objectOf, parseJson } from '../json-kind.ts';
import { prepareRequest } from './prepare.ts';

const DIALECTS: readonly DialectTranslation[] = [
  messagesTranslation,
  chatTranslation,
  generativeTranslation,
  responsesTranslation,
];

function context(): AnswerContext {
  let made = 0;
  const clientOptions = {
    model: 'asked',
    stream: true,
    includeUsage: true,
    freeformTools: [],
    searchTools: [],
    toolNames: {},
    framing: 'sse' as const,
  };
  const note = (): void => undefined;
  return { clientOptions, ids: () => `r${(made += 1)}`, now: () => 1_700_000_000_000, note };
}

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 });
const name = fc.stringMatching(/^[a-z][a-z_]{0,10}$/);
const input = fc
  .dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.oneof(text, fc.integer(), fc.boolean()))
  .map((value) => JSON.stringify(value));
const call = fc.record({ kind: fc.constant('toolUse' as const), name, input });
const count = fc.nat(100_000);

/** Responses that every dialect can express: a text, then calls, and a matching finish reason. */
const answers: fc.Arbitrary<CanonicalResponse> = fc
  .tuple(
    fc.option(text, { nil: undefined }),
    fc.array(call, { maxLength: 3 }),
    fc.constantFrom('end' as const, 'maxTokens' as const, 'refusal' as const),
    fc.tuple(count, count, count, count),
  )
  .map(([words, calls, end, [plain, cached, output, reasoning]]) => ({
    id: 'abc',
    model: 'some-model',
    blocks: [
      ...(words === undefined ? [] : [{ kind: 'text' as const, text: words }]),
      ...calls.map((each, at) => ({ ...each, id: `call_${at}` })),
    ],
    stopReason: calls.length > 0 && end === 'end' ? 'toolUse' : end,
    usage: {
      ...emptyUsage,
      inputTokens: plain,
      cacheReadTokens: cached,
      outputTokens: output + reasoning,
      reasoningTokens: reasoning,
    },
  }));

function gather(events: readonly CanonicalEvent[]): CanonicalResponse {
  const blocks: CanonicalBlock[] = [];
  let response = { id: '', model: '', stopReason: 'failed' as const, usage: emptyUsage };
  const order: string[] = [];
  for (const event of events) {
    order.push(event.type);
    if (event.type === 'start') response = { ...response, model: event.model };
    if (event.type === 'usage') response = { ...response, usage: event.usage };
    if (event.type === 'stop') response = Object.assign({}, response, { stopReason: event.reason });
    if (event.type === 'blockStart') blocks.push(blockOf(event.block));
    if (event.type === 'delta') extend(blocks, event.text);
  }
  assert.is(order.filter((type) => type === 'start').length, 1, order.join());
  assert.is(order.at(-1), 'end', order.join());
  return { ...response, blocks };
}

function blockOf(block: Extract<CanonicalEvent, { type: 'blockStart' }>['block']): CanonicalBlock {
  if (block.kind === 'image') return block;
  if (block.kind === 'toolUse') return { ...block, input: '' };
  return block.kind === 'thinking' ? { ...block, text: '' } : { kind: block.kind, text: '' };
}

function extend(blocks: CanonicalBlock[], more: string): void {
  assert.is.not(more, '', 'an empty delta');
  const last = blocks.at(-1);
  if (last?.kind === 'toolUse') blocks[blocks.length - 1] = { ...last, input: last.input + more };
  if (last?.kind === 'text') blocks[blocks.length - 1] = { ...last, text: last.text + more };
}

function parseSse(wire: string): WireEvent[] {
  const events: WireEvent[] = [];
  const parser = createParser({ onEvent: ({ event, data }) => events.push({ event, data }) });
  parser.feed(wire);
  return events;
}

/** Returns the part of a response to compare: ids and dates differ by dialect. */
function texts(response: CanonicalResponse): unknown {
  const { blocks, stopReason, model } = response;
  const { inputTokens, outputTokens, cacheReadTokens, reasoningTokens } = response.usage;
  const read = blocks.map((block) =>
    block.kind === 'toolUse' ? { ...block, input: parseJson(block.input || '{}') } : block,
  );
  const usage = { inputTokens, outputTokens, cacheReadTokens, reasoningTokens };
  return { blocks: read, stopReason, model, usage };
}

for (const dialect of DIALECTS) {
  test(`${dialect.name}: a whole answer is read back as it was written`, () => {
    fc.assert(
      fc.property(answers, (response) => {
        const written = dialect.writeResponse(response, context());
        const wire = parseJson(JSON.stringify(written));
        assert.equal(texts(dialect.readResponse(wire, context())), texts(response));
      }),
    );
  });

  test(`${dialect.name}: a stream is read back as it was written`, () => {
    fc.assert(
      fc.property(answers, (response) => {
        const writer = new dialect.Writer(context());
        const wire = responseEvents(response)
          .map((event) => writer.write(event))
          .join('');
        const reader = new dialect.Reader(context());
        const events = parseSse(wire).flatMap((event) => [...reader.read(event)]);
        assert.equal(texts(gather([...events, ...reader.end()])), texts(response));
      }),
    );
  });
}

const image = fc.constant({
  kind: 'image' as const,
  source: { from: 'base64' as const, mediaType: 'image/png', data: 'aGVsbG8=' },
});
const userTurn = fc.array(
  fc.oneof(fc.record({ kind: fc.constant('text' as const), text }), image),
  {
    minLength: 1,
    maxLength: 3,
  },
);
const assistantTurn = fc.tuple(text, fc.array(fc.tuple(call, text), { maxLength: 3 }));

/** Conversations in which every call has its result in the next turn. */
const conversations: fc.Arbitrary<CanonicalMessage[]> = fc
  .tuple(userTurn, fc.array(fc.tuple(assistantTurn, userTurn), { maxLength: 3 }))
  .map(([first, turns]) => [
    { role: 'user' as const, blocks: first },
    ...turns.flatMap(([[words, calls], next], turn): CanonicalMessage[] => [
      {
        role: 'assistant',
        blocks: [
          { kind: 'text', text: words },
          ...calls.map(([each], at) => ({ ...each, id: `call_${turn}_${at}` })),
        ],
      },
      {
        role: 'user',
        blocks: [
          ...calls.map(([, result], at) => ({
            kind: 'toolResult' as const,
            toolUseId: `call_${turn}_${at}`,
            content: [{ kind: 'text' as const, text: result }],
            isError: false,
          })),
          ...next,
        ],
      },
    ]),
  ]);

const requests: fc.Arbitrary<CanonicalRequest> = fc
  .tuple(
    conversations,
    fc.array(text, { maxLength: 1 }),
    fc.uniqueArray(name, { maxLength: 3 }),
    fc.constantFrom('auto' as const, 'any' as const),
    fc.integer({ min: 1, max: 9999 }),
  )
  .map(([messages, system, names, mode, maxOutputTokens]) => ({
    model: 'some-model',
    system,
    messages,
    tools: names.map((each) => ({
      name: each,
      description: `Does ${each}`,
      schema: { type: 'object', properties: { q: { type: 'string' } } },
    })),
    ...(names.length > 0 ? { toolChoice: { mode } } : {}),
    maxOutputTokens,
    stop: [],
    stream: true,
  }));

/** Normalizes what may differ: adjacent texts may be joined, and JSON spacing may change. */
function comparable(request: CanonicalRequest): unknown {
  const messages = request.messages.map(({ role, blocks }) => ({
    role,
    texts: blocks.flatMap((block) => (block.kind === 'text' ? block.text : [])).join('|'),
    others: blocks
      .filter((block) => block.kind !== 'text')
      .map((block) =>
        block.kind === 'toolUse' ? { ...block, input: parseJson(block.input) } : block,
      ),
  }));
  const { tools, toolChoice, maxOutputTokens, model, system, stream } = request;
  const known = tools.map(({ name: tool, description, schema }) => ({ tool, description, schema }));
  return { messages, known, toolChoice, maxOutputTokens, model, system, stream };
}

for (const dialect of DIALECTS) {
  test(`${dialect.name}: a request is read back as it was written`, () => {
    const note = (): void => undefined;
    const marks = createCallMarks().of('');
    fc.assert(
      fc.property(requests, (request) => {
        const place = dialect.systemPlace(request.model);
        const ready = prepareRequest(request, dialect, { note, marks, place }).request;
        const written = dialect.writeRequest(ready, { note, unsupported: new Set() });
        const wire = objectOf(parseJson(JSON.stringify(written.body)));
        const reading = { note, target: written.path, providerTools: 'skip' as const };
        const read = prepareRequest(dialect.readRequest(wire, reading), dialect, {
          note,
          marks,
          place,
        }).request;
        assert.equal(comparable(read), comparable(ready));
      }),
    );
  });
}

test('chat: interleaved pieces of parallel calls become whole calls, one after the other', () => {
  const pieces = fc.array(fc.tuple(fc.nat(2), fc.stringMatching(/^[a-z"\\{} ]{1,4}$/)), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(pieces, (deltas) => {
      const reader = new chatTranslation.Reader(context());
      const events: CanonicalEvent[] = [];
      const expected = ['', '', ''];
      const seen = new Set<number>();
      const feed = (delta: object, finish: string | null = null): void => {
        const chunk = {
          id: 'c',
          model: 'm',
          choices: [{ index: 0, delta, finish_reason: finish }],
        };
        events.push(...reader.read({ data: JSON.stringify(chunk) }));
      };
      for (const [index, piece] of deltas) {
        // A call is complete once its arguments parse, so only parts of one JSON string are split
        // here.
        const inside = JSON.stringify(piece).slice(1, -1);
        const opening = seen.has(index) ? {} : { id: `id${index}`, type: 'function' };
        const start = seen.has(index) ? '' : '{"v":"';
        const called = seen.has(index) ? {} : { name: `tool${index}` };
        seen.add(index);
        expected[index] += start + inside;
        feed({
          tool_calls: [{ index, ...opening, function: { ...called, arguments: start + inside } }],
        });
      }
      for (const index of seen) {
        expected[index] += '"}';
        feed({ tool_calls: [{ index, function: { arguments: '"}' } }] });
      }
      feed({}, 'tool_calls');
      events.push(...reader.read({ data: '[DONE]' }));
      const whole = gather(events).blocks.flatMap((block) =>
        block.kind === 'toolUse' ? [[block.name, block.input]] : [],
      );
      assert.equal(
        whole,
        [...seen].map((index) => [`tool${index}`, expected[index]]),
      );
    }),
  );
});

test.run();
