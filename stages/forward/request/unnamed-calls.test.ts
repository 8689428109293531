/**
 * Calls that a generative client returns without ids get back what their chat provider requires.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { GoogleGenAI } from '@google/genai';
import type { Content } from '@google/genai';
import { resultsIn } from '../../../fixtures/clients/model.ts';
import { withPair } from '../../../fixtures/forward/pair.ts';
import { closeClients } from '../../../fixtures/server/exchange.ts';
import type { ReplySource } from '../../../fixtures/upstream.ts';
import { enforce } from '../../../fixtures/upstream/enforce.ts';
import { asArray, asObject } from '../../../fixtures/upstream/reply.ts';

const STEPS = 4;

/** The same call with the same arguments in every turn. */
const model: ReplySource = (dialect, body) => {
  const step = resultsIn(dialect, body);
  if (step >= STEPS) return { deltas: ['done'], toolCalls: [], stop: 'end' };
  const toolCalls = [{ id: `call_${step}_a`, name: 'poll', input: {} }];
  const thinking = { text: `I think of step ${step}.`, signature: 'c2ln' };
  return { deltas: [], toolCalls, stop: 'tool', thinking };
};

/** Returns the parts as kept by a client that does not know ids. */
function withoutIds(parts: NonNullable<Content['parts']>): NonNullable<Content['parts']> {
  return parts.map((part) => {
    if (part.functionCall === undefined) return part;
    const { id: _, ...call } = part.functionCall;
    return { ...part, functionCall: call };
  });
}

const yaml = (url: string) =>
  `providers: { other: { kind: chat, base_url: "${url}", api_key: k } }\nrouting: { primary: other }\n`;

for (const stream of [false, true]) {
  test(`reasoning is restored for calls without ids, ${stream ? 'streamed' : 'whole'}`, () =>
    withPair({ yaml, upstream: { replies: model } }, async (t) => {
      enforce(t.spare);
      const client = new GoogleGenAI({ apiKey: 'mine', httpOptions: { baseUrl: t.proxy.url } });
      const functionDeclarations = [{ name: 'poll', parametersJsonSchema: { type: 'object' } }];
      const contents: Content[] = [{ role: 'user', parts: [{ text: 'go' }] }];
      for (let step = 0; step <= STEPS; step += 1) {
        const config = { tools: [{ functionDeclarations }] };
        const request = { model: 'kimi-k3', contents, config };
        const pieces = stream
          ? await client.models.generateContentStream(request)
          : [await client.models.generateContent(request)];
        const parts: NonNullable<Content['parts']> = [];
        for await (const piece of pieces)
          parts.push(...(piece.candidates?.[0]?.content?.parts ?? []));
        const calls = parts.flatMap((part) => part.functionCall ?? []);
        contents.push({ role: 'model', parts: withoutIds(parts) });
        const answers = calls.map(({ name = '' }) => ({
          functionResponse: { name, response: { output: 'ok' } },
        }));
        contents.push({ role: 'user', parts: answers });
      }
      const reasoningIn = (body: Buffer) =>
        asArray(asObject(JSON.parse(body.toString()))['messages'])
          .map(asObject)
          .filter((turn) => turn['tool_calls'] !== undefined)
          .map((turn) => turn['reasoning_content']);
      const thoughts = Array.from({ length: STEPS }, (_, step) => `I think of step ${step}.`);
      assert.equal(reasoningIn(t.spare.requests.at(-1)!.body), thoughts);
      assert.is(t.spare.requests.length, STEPS + 1, 'no request was sent twice');
    }));
}

test.after(closeClients);
test.run();
