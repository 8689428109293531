/**
 * A thousand shapes of usage, of four dialects, whole, streamed and cancelled, against an arithmetic of
 * its own over the published tables: within a thousandth each, and none silently cheap.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ServerResponse } from 'node:http';
import { dollarsFor, searchDollars } from '../../fixtures/money/tables.ts';
import type { Used } from '../../fixtures/money/tables.ts';
import { toEvent, withPlainUpstream } from '../../fixtures/plain-upstream.ts';
import { CHAT, MESSAGE, closeClients, json, openAnswer } from '../../fixtures/server/exchange.ts';
import { createRandom } from '../../fixtures/random.ts';

const SHAPES = 1000;
const SEED = 35;

type Json = Record<string, unknown>;
type Way = 'whole' | 'streamed' | 'cancelled';

interface Shape {
  readonly path: string;
  readonly body: string;
  /** The answer as one document, and as events. */
  readonly document: Json;
  readonly events: readonly (Json | string)[];
  /** Dollars for `output` tokens of the answer, all else being as reported; undefined where a price is missing. */
  dollars(output: number): number | undefined;
  readonly output: number;
}

const random = createRandom(SEED);
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
const upTo = (most: number): number => Math.floor(random() * most);
const maybe = (chance: number): boolean => random() < chance;

const CLAUDES = [
  'claude-opus-5-5',
  'claude-opus-4-8',
  'claude-fable-5-2',
  'claude-fable-5-1',
  'claude-sonnet-5-5',
  'claude-sonnet-4-5',
  'claude-haiku-5-5',
];

interface Part {
  readonly used: Used;
  readonly figures: Json;
}

/** One inference of a Claude, as counted and as written. */
function inference(model: string): Part {
  const [input, read, output] = [1 + upTo(60_000), maybe(0.6) ? upTo(250_000) : 0, upTo(20_000)];
  const [write, write1h] = [maybe(0.4) ? upTo(40_000) : 0, maybe(0.3) ? upTo(40_000) : 0];
  return {
    used: { model, input, read, write, write1h, output },
    figures: {
      input_tokens: input,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: write + write1h,
      cache_creation: { ephemeral_5m_input_tokens: write, ephemeral_1h_input_tokens: write1h },
      output_tokens: output,
    },
  };
}

function messagesShape(way: Way): Shape {
  const model = pick(CLAUDES);
  const answer = inference(model);
  const iterations: Json[] = [];
  const others: Used[] = [];
  // What breaks off has not come to the list of its inferences.
  if (way !== 'cancelled' && maybe(0.4)) {
    iterations.push({ type: 'message', ...answer.figures });
    const kind = pick(['compaction', 'advisor_message'] as const);
    const adviser = maybe(0.05) ? 'claude-unheard-of' : pick(CLAUDES);
    const other = inference(kind === 'compaction' ? model : adviser);
    const named = kind === 'compaction' ? {} : { model: other.used.model };
    iterations.push({ type: kind, ...named, ...other.figures });
    others.push(other.used);
  }
  const fast = maybe(0.25);
  const geo = pick(['us', 'global', 'global', 'eu', undefined]);
  const tier = pick(['standard', 'standard', 'batch', 'priority']);
  const searches = maybe(0.2) ? 1 + upTo(8) : 0;
  const terms = [
    ...(geo === 'us' || geo === 'eu' ? [geo] : []),
    ...(tier === 'standard' ? [] : [tier]),
  ];
  const said: Json = {
    service_tier: tier,
    ...(fast && { speed: 'fast' }),
    ...(geo && { inference_geo: geo }),
  };
  const usage: Json = {
    ...answer.figures,
    ...said,
    ...(searches > 0 && { server_tool_use: { web_search_requests: searches } }),
    ...(iterations.length > 0 && { iterations }),
  };
  const start = { type: 'message', role: 'assistant', model, content: [] };
  const first = { ...answer.figures, ...said, output_tokens: 1 };
  // A model that is not sold fast runs at its usual speed for another one.
  const isSoldFast = (of: string) => dollarsFor({ model: of }, ['fast']) !== undefined;
  return {
    path: '/v1/messages',
    body: json(MESSAGE, {
      model,
      stream: way !== 'whole',
      ...(maybe(0.5) && { speed: 'standard' }),
    }),
    document: { ...start, stop_reason: 'end_turn', usage },
    events: [
      { type: 'message_start', message: { ...start, usage: first } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
      { type: 'message_stop' },
    ],
    output: answer.used.output ?? 0,
    dollars(output) {
      const own = dollarsFor({ ...answer.used, output }, fast ? [...terms, 'fast'] : terms);
      const rest = others.map((one) =>
        dollarsFor(
          one,
          fast && (one.model === model || isSoldFast(one.model)) ? [...terms, 'fast'] : terms,
        ),
      );
      return sumOf([own, ...rest, searchDollars(model, searches)]);
    },
  };
}

function sumOf(parts: readonly (number | undefined)[]): number | undefined {
  return parts.includes(undefined) ? undefined : parts.reduce<number>((sum, one) => sum + one!, 0);
}

const GPTS = ['gpt-5', 'gpt-5.5', 'gpt-6.2-sol', 'gpt-audio', 'gpt-unheard-of'];
const TIERS = ['default', 'default', 'flex', 'priority', 'scale', 'ultrafast', undefined];

function termsOf(tier: string | undefined): readonly string[] {
  return tier === undefined || tier === 'default' ? [] : [tier];
}

/** What a GPT has used, with the details that both of its dialects give. */
function gptUse(model: string) {
  const writes = model === 'gpt-6.2-sol';
  const isAudio = model === 'gpt-audio' || maybe(0.03);
  const read = model !== 'gpt-audio' && maybe(0.5) ? upTo(200_000) : 0;
  const write = writes && maybe(0.5) ? upTo(50_000) : 0;
  const write12h = writes && maybe(0.3) ? upTo(50_000) : 0;
  const inputAudio = isAudio ? upTo(5000) : 0;
  const outputAudio = isAudio ? upTo(3000) : 0;
  const [input, output] = [1 + upTo(100_000), upTo(20_000)];
  const used: Used = { model, input, output, read, write, write12h, inputAudio, outputAudio };
  const inDetails = {
    cached_tokens: read,
    audio_tokens: inputAudio,
    ...(writes && { cache_write_tokens: write + write12h, cache_write_tokens_12h: write12h }),
  };
  const outDetails = { reasoning_tokens: 0, audio_tokens: outputAudio };
  const prompt = input + read + write + write12h + inputAudio;
  return { used, inDetails, outDetails, prompt, completion: output + outputAudio };
}

function chatShape(way: Way): Shape {
  const model = pick(GPTS);
  const tier = pick(TIERS);
  const { used, inDetails, outDetails, prompt, completion } = gptUse(model);
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: inDetails,
    completion_tokens_details: outDetails,
  };
  const told = { model, ...(tier && { service_tier: tier }) };
  const choice = { index: 0, delta: { content: 'hello' }, finish_reason: null };
  return {
    path: '/v1/chat/completions',
    body: json(CHAT, { model, stream: way !== 'whole', stream_options: { include_usage: true } }),
    document: { object: 'chat.completion', choices: [], usage, ...told },
    events: [
      { object: 'chat.completion.chunk', choices: [choice], ...told },
      { object: 'chat.completion.chunk', choices: [], usage, ...told },
      'data: [DONE]\n\n',
    ],
    output: completion,
    dollars: (output) =>
      dollarsFor({ ...used, output: output - (used.outputAudio ?? 0) }, termsOf(tier)),
  };
}

function responsesShape(way: Way): Shape {
  const model = pick(GPTS);
  const tier = pick(TIERS);
  const { used, inDetails, outDetails, prompt, completion } = gptUse(model);
  const calls = maybe(0.3) ? 1 + upTo(4) : 0;
  const output = Array.from({ length: calls }, (_, at) => ({
    type: 'web_search_call',
    id: `ws_${at}`,
    action: { type: 'search' },
  }));
  const pages = maybe(0.3)
    ? [{ type: 'web_search_call', id: 'p', action: { type: 'open_page' } }]
    : [];
  const usage = {
    input_tokens: prompt,
    output_tokens: completion,
    total_tokens: prompt + completion,
    input_tokens_details: inDetails,
    output_tokens_details: outDetails,
  };
  const document = {
    object: 'response',
    status: 'completed',
    model,
    output: [...output, ...pages],
    ...(tier && { service_tier: tier }),
    usage,
  };
  const begun = {
    object: 'response',
    status: 'in_progress',
    model,
    service_tier: 'auto',
    usage: null,
  };
  return {
    path: '/v1/responses',
    body: JSON.stringify({ model, input: 'hello', stream: way !== 'whole' }),
    document,
    events: [
      { type: 'response.created', response: begun },
      ...document.output.map((item) => ({ type: 'response.output_item.done', item })),
      { type: 'response.output_text.delta', delta: 'hello' },
      { type: 'response.completed', response: document },
    ],
    output: completion,
    dollars: (tokens) =>
      sumOf([
        dollarsFor({ ...used, output: tokens - (used.outputAudio ?? 0) }, termsOf(tier)),
        calls === 0 || dollarsFor({ model }, []) !== undefined
          ? searchDollars(model, calls)
          : undefined,
      ]),
  };
}

const GEMINIS = [
  'gemini-2.5-flash',
  'gemini-2.5-flash-image',
  'gemini-3-pro-preview',
  'gemini-unheard-of',
];

function generativeShape(way: Way): Shape {
  const model = pick(GEMINIS);
  const traffic = pick([
    'ON_DEMAND',
    'ON_DEMAND',
    'ON_DEMAND_FLEX',
    'ON_DEMAND_PRIORITY',
    'PROVISIONED_THROUGHPUT',
    undefined,
  ]);
  const hears = model === 'gemini-2.5-flash';
  const [inputAudio, readAudio] = [hears ? upTo(5000) : 0, hears && maybe(0.5) ? upTo(3000) : 0];
  const outputImage = model.endsWith('image') ? upTo(5000) : 0;
  const [input, read] = [1 + upTo(250_000), maybe(0.5) ? upTo(50_000) : 0];
  const [output, thoughts] = [upTo(8000), upTo(4000)];
  const queries = maybe(0.3) ? Array.from({ length: 1 + upTo(4) }, (_, at) => `query ${at}`) : [];
  const used: Used = { model, input, read, inputAudio, readAudio, outputImage };
  const modal = (modality: string, tokenCount: number) => ({ modality, tokenCount });
  const usageMetadata = {
    promptTokenCount: input + read + inputAudio + readAudio,
    cachedContentTokenCount: read + readAudio,
    candidatesTokenCount: output + outputImage,
    thoughtsTokenCount: thoughts,
    totalTokenCount: input + read + inputAudio + readAudio + output + outputImage + thoughts,
    promptTokensDetails: [modal('TEXT', input + read), modal('AUDIO', inputAudio + readAudio)],
    cacheTokensDetails: [modal('TEXT', read), modal('AUDIO', readAudio)],
    candidatesTokensDetails: [modal('TEXT', output), modal('IMAGE', outputImage)],
    ...(traffic && { trafficType: traffic }),
  };
  const grounding = queries.length > 0 && { groundingMetadata: { webSearchQueries: queries } };
  const last = {
    candidates: [{ finishReason: 'STOP', ...grounding }],
    usageMetadata,
    modelVersion: model,
  };
  const terms = {
    ON_DEMAND_FLEX: ['flex'],
    ON_DEMAND_PRIORITY: ['priority'],
    PROVISIONED_THROUGHPUT: ['provisioned_throughput'],
    ON_DEMAND: [],
  }[traffic ?? 'ON_DEMAND'] as readonly string[];
  const all = output + outputImage + thoughts;
  return {
    path: `/v1beta/models/${model}:${way === 'whole' ? 'generateContent' : 'streamGenerateContent?alt=sse'}`,
    body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'hello' }] }] }),
    document: last,
    events: [
      { candidates: [{ content: { parts: [{ text: 'hello' }] } }], modelVersion: model },
      last,
    ],
    output: all,
    dollars: (tokens) =>
      sumOf([
        dollarsFor({ ...used, output: tokens - outputImage }, terms),
        dollarsFor({ model }, []) === undefined ? undefined : searchDollars(model, queries.length),
      ]),
  };
}

/** Writes the shape; one that will be cancelled stays open before its last event. */
function send(answered: ServerResponse, { document, events }: Shape, way: Way): void {
  if (way === 'whole') {
    answered.writeHead(200, { 'content-type': 'application/json' });
    answered.end(JSON.stringify(document));
    return;
  }
  answered.writeHead(200, { 'content-type': 'text/event-stream' });
  const shown = way === 'cancelled' ? events.slice(0, -1) : events;
  for (const event of shown) answered.write(toEvent(event));
  if (way === 'streamed') answered.end();
}

/** Reads the answer; of one that will be cancelled all that is sent, and then leaves. */
async function take(port: number, { path, body, events }: Shape, way: Way): Promise<void> {
  const leave = new AbortController();
  const message = await openAnswer(port, { path, body, signal: leave.signal });
  const lastShown = toEvent(events.at(-2) ?? '')
    .trimEnd()
    .slice(-40);
  let text = '';
  try {
    for await (const piece of message) {
      text += String(piece);
      if (way === 'cancelled' && text.includes(lastShown)) leave.abort();
    }
  } catch (error) {
    if (!leave.signal.aborted) throw error;
  }
}

test(`${SHAPES} shapes of usage cost what the published tables say`, () =>
  withPlainUpstream({}, async (t, upstream) => {
    const makers = {
      messages: messagesShape,
      chat: chatShape,
      responses: responsesShape,
      generative: generativeShape,
    };
    const names = Object.keys(makers) as (keyof typeof makers)[];
    const ways: readonly Way[] = ['whole', 'streamed', 'cancelled'];
    const made: { shape: Shape; way: Way; name: string }[] = [];
    for (let at = 0; at < SHAPES; at++) {
      const name = names[at % names.length]!;
      // Figures that come with the last event are gone where the client has left before it.
      const isLast = name === 'responses' || name === 'generative';
      const way = ways[Math.floor(at / names.length) % (isLast ? 2 : 3)]!;
      made.push({ shape: makers[name](way), way, name });
    }
    for (const { shape, way } of made) {
      upstream.answer((answered) => send(answered, shape, way));
      await take(t.proxy.port, shape, way);
    }
    const rows = await t.rows(SHAPES);
    const off: string[] = [];
    let [unpriced, cancelled] = [0, 0];
    const byTime = rows.toSorted((a, b) => a.startedMs - b.startedMs);
    for (const [at, { shape, way, name }] of made.entries()) {
      const row = byTime[at]!;
      const tokens = way === 'cancelled' ? (row.outputTokens ?? 0) : shape.output;
      const wanted = shape.dollars(tokens);
      const found = row.costNanoUsd === null ? undefined : row.costNanoUsd / 1e9;
      if (way === 'cancelled' && row.outcome === 'cancelled') cancelled += 1;
      if (wanted === undefined) unpriced += 1;
      const isRight =
        wanted === undefined || found === undefined
          ? wanted === found
          : Math.abs(found - wanted) <= wanted * 0.001 + 1e-9;
      if (!isRight)
        off.push(`${at} ${name} ${way}: ${found} for ${wanted}: ${JSON.stringify(shape.document)}`);
    }
    assert.is(rows.length, SHAPES);
    assert.equal(off.slice(0, 3), [], `${off.length} of ${SHAPES} are off`);
    assert.ok(unpriced > 100 && unpriced < 600, `${unpriced} without a price`);
    assert.ok(cancelled > 100, `${cancelled} cancelled`);
  }));

test.after(closeClients);
test.run();
