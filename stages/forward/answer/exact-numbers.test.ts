/**
 * Numbers in a tool's arguments and schema keep their exact text, whatever the kind of provider.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { answer } from '../../../fixtures/upstream.ts';
import { jsonAnswer, streamAnswer, toEvent } from '../../../fixtures/upstream/answer.ts';
import type { Answer } from '../../../fixtures/upstream/answer.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import { withPair } from '../../../fixtures/forward/pair.ts';
import type { Pair } from '../../../fixtures/forward/pair.ts';

const DIALECTS = ['messages', 'chat', 'responses', 'generative'] as const;
type Dialect = (typeof DIALECTS)[number];
type Kind = Exclude<Dialect, 'responses'>;
const KINDS: readonly Kind[] = ['messages', 'chat', 'generative'];

/** Numbers that a double would change, and a string that only looks like numbers. */
const ARGS = '{"id":9007199254740993,"big":1e400,"one":1.0,"zero":-0,"text":"1.0 and \\"2.50\\""}';
const BOUNDS = '{"type":"integer","maximum":18446744073709551615,"minimum":-1.0}';
const SCHEMA = `{"type":"object","properties":{"id":${BOUNDS}}}`;

/** The arguments as the string that some dialects use. */
const quoted = JSON.stringify(ARGS);

/**
 * A request with a call in its history and the tool's declaration, as text so that no double is
 * involved.
 */
const REQUESTS: Record<
  Dialect,
  { readonly path: (stream: boolean) => string; readonly body: string }
> = {
  messages: {
    path: () => '/v1/messages',
    body: `{"model":"m","max_tokens":9,"temperature":1.0,"tools":[{"name":"f","input_schema":${SCHEMA}}],"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":${ARGS}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}]}`,
  },
  chat: {
    path: () => '/v1/chat/completions',
    body: `{"model":"m","temperature":1.0,"tools":[{"type":"function","function":{"name":"f","parameters":${SCHEMA}}}],"messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":${quoted}}}]},{"role":"tool","tool_call_id":"t1","content":"ok"}]}`,
  },
  responses: {
    path: () => '/v1/responses',
    body: `{"model":"m","temperature":1.0,"tools":[{"type":"function","name":"f","parameters":${SCHEMA}}],"input":[{"role":"user","content":"go"},{"type":"function_call","call_id":"t1","name":"f","arguments":${quoted}},{"type":"function_call_output","call_id":"t1","output":"ok"}]}`,
  },
  generative: {
    path: (stream) =>
      `/v1beta/models/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: `{"generationConfig":{"temperature":1.0},"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":${SCHEMA}}]}],"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"id":"t1","name":"f","args":${ARGS}}}]},{"role":"user","parts":[{"functionResponse":{"id":"t1","name":"f","response":{"output":"ok"}}}]}]}`,
  },
};

/** A call with those arguments as a provider of each kind sends it, whole and streamed. */
const WHOLE: Record<Kind, string> = {
  messages: `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"t2","name":"f","input":${ARGS}}],"stop_reason":"tool_use","usage":{"input_tokens":5.0,"output_tokens":2}}`,
  chat: `{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","tool_calls":[{"id":"t2","type":"function","function":{"name":"f","arguments":${quoted}}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":5.0,"completion_tokens":2,"total_tokens":7}}`,
  generative: `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"t2","name":"f","args":${ARGS}}}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":5.0,"candidatesTokenCount":2,"totalTokenCount":7}}`,
};

const SPLIT_AT = quoted.indexOf('2547');
const STREAMS: Record<Kind, () => Answer> = {
  messages: () =>
    streamAnswer([
      toEvent({
        type: 'message_start',
        message: { id: 'msg_1', model: 'm', usage: { input_tokens: 5 } },
      }),
      toEvent({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 't2', name: 'f', input: {} },
      }),
      ...[ARGS.slice(0, SPLIT_AT), ARGS.slice(SPLIT_AT)].map((partial_json) =>
        toEvent({
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'input_json_delta', partial_json },
        }),
      ),
      toEvent({ type: 'content_block_stop', index: 0 }),
      toEvent({
        type: 'message_delta',
        delta: { stop_reason: 'tool_use' },
        usage: { output_tokens: 2 },
      }),
      toEvent({ type: 'message_stop' }),
    ]),
  chat: () =>
    streamAnswer([
      toEvent({
        id: 'c',
        model: 'm',
        choices: [
          {
            index: 0,
            delta: {
              tool_calls: [
                { index: 0, id: 't2', function: { name: 'f', arguments: ARGS.slice(0, SPLIT_AT) } },
              ],
            },
          },
        ],
      }),
      toEvent({
        id: 'c',
        model: 'm',
        choices: [
          {
            index: 0,
            delta: { tool_calls: [{ index: 0, function: { arguments: ARGS.slice(SPLIT_AT) } }] },
          },
        ],
      }),
      toEvent({
        id: 'c',
        model: 'm',
        choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }],
      }),
      toEvent('[DONE]'),
    ]),
  generative: () => streamAnswer([toEvent(WHOLE.generative)]),
};

/**
 * Returns true if the text contains the arguments, directly or in a string, in one piece or in
 * deltas.
 */
function holdsArgs(text: string): boolean {
  const deltas = [...text.matchAll(/"(?:partial_json|arguments|delta)":("(?:[^"\\]|\\.)*")/g)];
  const joined = deltas.map((match) => JSON.parse(match[1]!) as string).join('');
  return text.includes(ARGS) || joined.includes(ARGS);
}

function local(kind: Kind): (url: string) => string {
  return (url) =>
    `providers: { local: { kind: ${kind}, base_url: "${url}", api_key: k } }\nrouting: { primary: local }\n`;
}

async function checkPair(t: Pair, client: Dialect, kind: Kind): Promise<void> {
  for (const stream of [false, true]) {
    const name = `${client} client, ${kind} provider, ${stream ? 'streamed' : 'whole'}`;
    t.spare.reset();
    t.spare.script('/v1/responses', '404');
    t.spare.script(
      (request) => request.path !== '/v1/responses',
      answer(() => (stream ? STREAMS[kind]() : jsonAnswer(200, WHOLE[kind]))),
    );
    const { path, body } = REQUESTS[client];
    const streamed =
      stream && client !== 'generative' ? body.replace('{', '{"stream":true,') : body;
    const response = await exchange(t.proxy.port, { path: path(stream), body: streamed });
    assert.is(response.status, 200, `${name}: ${response.text}`);
    const sent = t.spare.requests.at(-1)!.body.toString();
    assert.ok(holdsArgs(sent), `${name}, history: ${sent}`);
    assert.ok(sent.includes(BOUNDS), `${name}, schema: ${sent}`);
    assert.match(sent, /"temperature":1[,}.]/, name);
    assert.ok(holdsArgs(response.text), `${name}, answer: ${response.text}`);
    assert.match(
      response.text,
      stream ? '' : /(?:input_tokens|prompt_tokens|promptTokenCount)":5/,
      name,
    );
  }
}

for (const client of DIALECTS) {
  for (const kind of KINDS.filter((each) => each !== client)) {
    test(`${client} client, ${kind} provider`, () =>
      withPair({ yaml: local(kind) }, (t) => checkPair(t, client, kind)));
  }
}

test.after(closeClients);
test.run();
