/** Unsigned reasoning: what was compressed once is sent the same way in later turns. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import { hits } from '../../../fixtures/server/bound-client.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';

type Turns = readonly object[];

/** Each dialect's form for the model's reasoning and call, and for the tool's result. */
const DIALECTS: Readonly<
  Record<
    string,
    {
      readonly path: string;
      readonly body: (turns: Turns) => object;
      readonly turnsOf: (body: Record<string, Turns>) => Turns | undefined;
      readonly ask: object;
      readonly called: (n: number) => readonly object[];
    }
  >
> = {
  chat: {
    path: '/v1/chat/completions',
    body: (messages) => ({ model: 'deepseek-reasoner', messages }),
    turnsOf: ({ messages }) => messages,
    ask: { role: 'user', content: 'Look for it.' },
    called: (n) => [
      {
        role: 'assistant',
        content: null,
        reasoning_content: `Step ${n} is next.`,
        tool_calls: [
          { id: `call${n}`, type: 'function', function: { name: 'Grep', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: `call${n}`, content: hits(`item${n}`) },
    ],
  },
  generative: {
    path: '/v1beta/models/gemini-3-pro:generateContent',
    body: (contents) => ({ contents }),
    turnsOf: ({ contents }) => contents,
    ask: { role: 'user', parts: [{ text: 'Look for it.' }] },
    called: (n) => [
      {
        role: 'model',
        parts: [
          { text: `Step ${n} is next.`, thought: true },
          { functionCall: { id: `call${n}`, name: 'Grep', args: {} }, thoughtSignature: 'c2ln' },
        ],
      },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              id: `call${n}`,
              name: 'Grep',
              response: { output: hits(`item${n}`) },
            },
          },
        ],
      },
    ],
  },
};

for (const [name, { path, body, turnsOf, ask, called }] of Object.entries(DIALECTS))
  test(`${name}: each turn begins with the bytes of the previous turn`, () =>
    withProxy({ yaml: 'compression: { threshold_tokens: 0 }' }, async ({ proxy, upstream }) => {
      const turns: object[] = [ask];
      for (let n = 0; n < 3; n += 1) {
        turns.push(...called(n));
        const { status, text } = await exchange(proxy.port, {
          path,
          body: JSON.stringify(body(turns)),
        });
        assert.is(status, 200, text);
      }
      const sent = upstream.requests.map((request) =>
        turnsOf(JSON.parse(request.body.toString()) as Record<string, Turns>)!,
      );
      assert.is(sent.length, 3);
      sent
        .slice(1)
        .forEach((now, index) => assert.equal(now.slice(0, sent[index]!.length), sent[index]));
      for (const at of [2, 4, 6])
        assert.match(JSON.stringify(sent.at(-1)![at]), /\[svc hits/, `turn ${at} goes out smaller`);
    }));

test.after(closeClients);
test.run();
