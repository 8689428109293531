/**
 * Tool loops of more than eight turns through a provider of every other kind, configured as primary
 * and as the fallback while the client's own is down. The fake provider refuses what real ones
 * refuse.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CALLS, LAST_WORDS, LOOPS } from '../../fixtures/forward/loops.ts';
import { withPair } from '../../fixtures/forward/pair.ts';
import type { Pair } from '../../fixtures/forward/pair.ts';
import { closeClients } from '../../fixtures/server/exchange.ts';
import { enforce } from '../../fixtures/upstream/enforce.ts';
import { asArray, asObject } from '../../fixtures/upstream/reply.ts';
import type { JsonObject } from '../../fixtures/upstream/reply.ts';
import type { ReplySource } from '../../fixtures/upstream.ts';
import { resultsIn, toolsOf } from '../../fixtures/clients/model.ts';

const KINDS = ['messages', 'chat', 'generative'] as const;
type Kind = (typeof KINDS)[number];
const MODELS: Record<Kind, string> = {
  messages: 'claude-opus-4-8',
  chat: 'kimi-k3',
  generative: 'gemini-3-pro',
};

/**
 * Thinks, then calls a tool: first the search tool if there is one. Chat servers use the same id in
 * every turn.
 */
const model: ReplySource = (dialect, body) => {
  const step = resultsIn(dialect, body);
  if (step >= CALLS) return { deltas: [LAST_WORDS], toolCalls: [], stop: 'end' };
  const names = toolsOf(body).map(({ name }) => name);
  const isSearch = step === 0 && names.includes('ToolSearch');
  const call = {
    id: dialect === 'chat' ? 'functions_0' : `${dialect}${step}`,
    name: isSearch ? 'ToolSearch' : 'Bash',
    input: { command: `step ${step}` },
  };
  const thinking = { text: `I think of step ${step}.`, signature: 'c2lnbmF0dXJl' };
  return { deltas: [], toolCalls: [call], stop: 'tool', thinking };
};

/** Returns a provider of `kind` that maps every client's model to its own. */
function withProvider(kind: Kind, isPrimary: boolean): (url: string) => string {
  const aliases = ['claude-opus-4-8', 'gpt-fixture-1', 'gemini-fixture-1']
    .filter((name) => name !== MODELS[kind])
    .map((name) => `${name}: ${MODELS[kind]}`);
  const about = `kind: ${kind}, api_key: k, model_aliases: { ${aliases.join(', ')} }`;
  const place = isPrimary ? 'routing: { primary: other }' : 'fallback: [other]';
  return (url) => `providers: { other: { base_url: "${url}", ${about} } }\n${place}\n`;
}

function turnsOf(body: JsonObject): string[] {
  return asArray(body['messages'] ?? body['contents']).map((turn) => JSON.stringify(turn));
}

/** Checks that every request begins with all of the previous one, unchanged. */
function checkPrefix(bodies: readonly JsonObject[], name: string): void {
  for (const [at, body] of bodies.entries()) {
    const before = bodies[at - 1];
    if (before === undefined) continue;
    const held = turnsOf(before);
    assert.equal(turnsOf(body).slice(0, held.length), held, `${name}, request ${at}`);
    for (const part of ['system', 'systemInstruction', 'tools'])
      assert.equal(body[part], before[part], `${name}, ${part} of request ${at}`);
  }
}

function checkReasoning(body: JsonObject, name: string): void {
  const calls = asArray(body['messages'])
    .map(asObject)
    .filter((turn) => turn['tool_calls'] !== undefined);
  assert.equal(
    calls.map((turn) => turn['reasoning_content']),
    Array.from({ length: CALLS }, (_, step) => `I think of step ${step}.`),
    name,
  );
}

async function checkLoop(
  t: Pair,
  [client, kind]: readonly [keyof typeof LOOPS, Kind],
  stream: boolean,
): Promise<void> {
  enforce(t.spare);
  t.spare.script('/v1/responses', '404');
  const name = `${client} by ${kind}`;
  assert.is(await LOOPS[client]({ url: t.proxy.url, stream }), LAST_WORDS, name);
  const modelRequests = t.spare.requests.filter(({ path }) => path !== '/v1/responses');
  const bodies = modelRequests.map(({ body }) => JSON.parse(body.toString()) as JsonObject);
  assert.is(bodies.length, CALLS + 1, `${name}: no request was sent twice`);
  checkPrefix(bodies, name);
  if (kind === 'chat') checkReasoning(bodies.at(-1)!, name);
  if (client !== 'messages') return;
  const text = JSON.stringify(bodies.at(-1));
  assert.match(text, 'Tool Bash can be called now', name);
  assert.match(text, `<total_tokens>${CALLS - 2}`, name);
  assert.not.match(text, 'DeferredToolPlaceholder', name);
}

for (const client of Object.keys(LOOPS) as (keyof typeof LOOPS)[]) {
  for (const kind of KINDS.filter((each) => each !== client)) {
    const upstream = { replies: model };
    test(`a ${client} agent with a ${kind} provider`, () =>
      withPair({ yaml: withProvider(kind, true), upstream }, (t) =>
        checkLoop(t, [client, kind], false),
      ));
    test(`a ${client} agent with ${kind} as the fallback for its failing provider`, () =>
      withPair({ yaml: withProvider(kind, false), upstream }, async (t) => {
        t.upstream.script(undefined, '503');
        await checkLoop(t, [client, kind], true);
      }));
  }
}

test.after(closeClients);
test.run();
