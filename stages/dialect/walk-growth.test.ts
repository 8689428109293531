/** Everything that walks messages, blocks or members takes linear, not quadratic, time. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_GROWTH, minGrowth, processorMs } from '../../fixtures/growth.ts';
import { toConversationBlocks } from '../compress/pass/blocks.ts';
import { questionsOf } from '../inject/questions.ts';
import { createRequestSize } from '../learned/request-size.ts';
import { hashOfBeginning } from '../model/conversation.ts';
import { estimateInputTokens } from '../model/input-size.ts';
import { render } from '../wire/render.ts';
import { appendText, replaceTexts, setParam, toRequest } from '../model/request.ts';
import type { ProxyRequest } from '../model/request.ts';
import { measureJson } from '../wire/json-size.ts';
import { resolveEndpoint } from './endpoints.ts';
import type { Endpoint } from '../model/endpoint.ts';
import { dialects } from './registry.ts';
import { createCallMarks } from './call-marks.ts';
import { translateRequest } from './translate/translate.ts';
import type { TranslatableDialect } from './translate/translate.ts';

const COUNT = 2_000;
/** Quadratic work takes many times longer for 8,000 of anything. */
const FAST_MS = 25;

/** Returns whether one of two runs is fast: a slow one may have met garbage collection. */
async function isFast(work: () => void): Promise<boolean> {
  return (await processorMs(work)) < FAST_MS || (await processorMs(work)) < FAST_MS;
}

const repeat = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
const named = (count: number) => Object.fromEntries(repeat(count, (at) => [`k${at}`, at]));

type Shape = (count: number) => object;
const USER = { role: 'user', content: 'x' };
const CALLED = { type: 'function', function: { name: 't', arguments: '{}' } };
const message = (more: object): object => ({
  model: 'm',
  max_tokens: 1,
  messages: [USER],
  ...more,
});
const chat = (messages: object[]): object => ({ model: 'm', messages: [USER, ...messages] });

const SHAPES: Readonly<Record<TranslatableDialect, Readonly<Record<string, Shape>>>> = {
  messages: {
    'one role': (n) => message({ messages: repeat(n, () => USER) }),
    'roles by turns': (n) =>
      message({
        messages: repeat(n, (at) => (at % 2 === 0 ? USER : { ...USER, role: 'assistant' })),
      }),
    'system blocks': (n) => message({ system: repeat(n, () => ({ type: 'text', text: 'x' })) }),
    'blocks of one message': (n) =>
      message({
        messages: [{ role: 'user', content: repeat(n, () => ({ type: 'text', text: 'x' })) }],
      }),
    'calls and results': (n) =>
      message({
        messages: [
          USER,
          {
            role: 'assistant',
            content: repeat(n, (at) => ({ type: 'tool_use', id: `t${at}`, name: 't', input: {} })),
          },
          {
            role: 'user',
            content: repeat(n, (at) => ({
              type: 'tool_result',
              tool_use_id: `t${at}`,
              content: 'ok',
            })),
          },
        ],
      }),
    'odd calls': (n) =>
      message({
        messages: [
          {
            role: 'assistant',
            content: repeat(n, (at) => ({
              type: 'tool_use',
              id: `t ${at}`,
              name: `n ${at}`,
              input: {},
            })),
          },
        ],
      }),
    tools: (n) => message({ tools: repeat(n, (at) => ({ name: `t${at}`, input_schema: {} })) }),
    'unknown members': (n) => message(named(n)),
    'keys of an input': (n) =>
      message({
        messages: [
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 't', name: 't', input: named(n) }],
          },
        ],
      }),
  },
  chat: {
    'one role': (n) => chat(repeat(n, () => USER)),
    'roles by turns': (n) =>
      chat(repeat(n, (at) => (at % 2 === 0 ? USER : { ...USER, role: 'system' }))),
    'calls and results': (n) =>
      chat(
        repeat(n, (at) =>
          at % 2 === 0
            ? { role: 'assistant', content: null, tool_calls: [{ ...CALLED, id: `t${at}` }] }
            : { role: 'tool', tool_call_id: `t${at - 1}`, content: 'ok' },
        ),
      ),
  },
  responses: {
    'one role': (n) => ({ model: 'm', input: repeat(n, () => USER) }),
    'calls and outputs': (n) => ({
      model: 'm',
      input: repeat(n, (at) =>
        at % 2 === 0
          ? { type: 'function_call', call_id: `t${at}`, name: `n ${at}`, arguments: '{}' }
          : { type: 'function_call_output', call_id: `t${at - 1}`, output: 'ok' },
      ),
    }),
    reasoning: (n) => ({
      model: 'm',
      input: [USER, ...repeat(n, () => ({ type: 'reasoning', summary: [{ text: 'x' }] }))],
    }),
  },
  generative: {
    'one role': (n) => ({ contents: repeat(n, () => ({ role: 'user', parts: [{ text: 'x' }] })) }),
    'calls and responses': (n) => ({
      contents: repeat(n, (at) =>
        at % 2 === 0
          ? { role: 'model', parts: [{ functionCall: { name: `n${at}`, args: {} } }] }
          : {
              role: 'user',
              parts: [{ functionResponse: { name: `n${at - 1}`, response: { output: 'ok' } } }],
            },
      ),
    }),
  },
};

const PATHS: Readonly<Record<TranslatableDialect, string>> = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  generative: '/v1beta/models/gemini-fixture-1:generateContent',
};

function requestOf(dialect: TranslatableDialect, body: object): ProxyRequest {
  const target = PATHS[dialect];
  const bytes = Buffer.from(JSON.stringify(body));
  const endpoint = resolveEndpoint('POST', target, []) as Endpoint;
  const frame = { kind: 'body', method: 'POST', target, headers: [], bytes, endpoint } as const;
  return toRequest({
    body: { ...frame, wireBytes: bytes },
    dialect: dialects[dialect],
    facts: dialects[dialect].facts(body, target),
    json: body,
  });
}

/** Everything on the request path that walks a request, with fresh blocks each time. */
const WALKS: Readonly<
  Record<string, (dialect: TranslatableDialect, request: ProxyRequest) => void>
> = {
  size: (_dialect, { original }) => void measureJson(original.body.bytes),
  validation: (dialect, { original }) =>
    void dialects[dialect].validate(original.json, PATHS[dialect]),
  blocks: (dialect, { original }) => void dialects[dialect].blocks(original.json),
  protection: (dialect, { original }) =>
    void requestOf(dialect, original.json as object).original.protectedBy(0),
  'the conversation': (_dialect, request) => void hashOfBeginning(request.original),
  'the estimate': (_dialect, request) => void estimateInputTokens(request),
  'the size learned': (_dialect, request) =>
    void createRequestSize()({ ...request, report: { estimatedAfter: 1 } }),
  'blocks for compression': (_dialect, request) => void toConversationBlocks(request),
  questions: (_dialect, { original }) => void questionsOf(original.blocks()),
  'replaced texts': (_dialect, request) => {
    const { original } = request;
    const open = original.blocks().filter(({ index }) => original.protectedBy(index) === undefined);
    render(replaceTexts(request, new Map(open.map((block) => [block, 'z']))));
  },
  'an added text': (_dialect, request) => {
    const text = request.original.blocks().find(({ kind, path }) => kind === 'text' && path);
    if (text !== undefined) render(appendText(request, text.message, 'z'));
  },
  'an added member': (_dialect, request) => void render(setParam(request, 'zz', 1)),
  translation: (dialect, { original }) => {
    for (const to of Object.keys(PATHS) as TranslatableDialect[]) {
      if (to === dialect) continue;
      const options = { target: PATHS[dialect], marks: createCallMarks().of('') };
      translateRequest(dialect, to, original.json, { ...options, providerTools: 'drop' });
    }
  },
};

for (const [dialect, shapes] of Object.entries(SHAPES) as [
  TranslatableDialect,
  Readonly<Record<string, Shape>>,
][]) {
  for (const [shape, make] of Object.entries(shapes)) {
    test(`${dialect}, ${shape}: every walk takes linear time`, async () => {
      const request = requestOf(dialect, make(4 * COUNT));
      for (const [name, walk] of Object.entries(WALKS)) {
        if (await isFast(() => walk(dialect, request))) continue;
        const min = await minGrowth(
          (times) => requestOf(dialect, make(COUNT * times)),
          (each) => walk(dialect, each),
        );
        assert.ok(min < MAX_GROWTH, `${name}: four times as much takes ${min} times as long`);
      }
    });
  }
}

test.run();
