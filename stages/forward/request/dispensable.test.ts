/** Dispensable parts of a conversation do not make a provider of another kind refuse it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PATHS, bodyOf, traceOf, withPair } from '../../../fixtures/forward/pair.ts';
import type { PairDialect } from '../../../fixtures/forward/pair.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import { enforce } from '../../../fixtures/upstream/enforce.ts';

interface Case {
  readonly name: string;
  readonly from: PairDialect;
  readonly more: object;
  /** Texts that the provider gets, in this order. */
  readonly sent: readonly string[];
  readonly notSent?: RegExp;
  /** The note in the trace. */
  readonly note?: RegExp;
}

const user = (content: unknown) => ({ role: 'user', content });
const schema = { type: 'object' };
const text = (expectedText: string) => ({ type: 'text', text: expectedText });

const CASES: readonly Case[] = [
  {
    name: 'parts of an unknown type in instructions, first and in the middle',
    from: 'chat',
    more: {
      messages: [
        { role: 'system', content: [{ type: 'input_text', text: 'Be brief.' }, { type: 'odd' }] },
        user('go'),
        { role: 'assistant', content: 'ok' },
        user('on'),
        { role: 'developer', content: [{ type: 'input_text', text: 'One left.' }] },
      ],
    },
    sent: ['Be brief.', 'go', 'One left.'],
    note: /input_text is sent as the text it contains.*odd left out/,
  },
  {
    name: 'an answer that was spoken',
    from: 'chat',
    more: {
      messages: [
        user('go'),
        { role: 'assistant', content: null, audio: { id: 'audio_1' } },
        user('on'),
        { role: 'assistant', audio: { id: 'audio_2', transcript: 'I said so.' } },
        user('and'),
      ],
    },
    sent: ['go', 'on', 'I said so.', 'and'],
    notSent: /audio_/,
    note: /spoken/,
  },
  {
    name: 'calls and results in the old form',
    from: 'chat',
    more: {
      messages: [
        user('go'),
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1.0}' } },
        { role: 'function', name: 'f', content: 'first' },
        { role: 'assistant', content: 'so', function_call: { name: 'f', arguments: '{"a":2}' } },
        { role: 'function', name: 'f', content: 'second' },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
    },
    sent: ['go', '"input":{"a":1.0}', 'first', '"so"', '"input":{"a":2}', 'second'],
  },
  {
    name: 'MCP servers beside tools',
    from: 'messages',
    more: {
      mcp_servers: [{ type: 'url', name: 'm', url: 'https://mcp.example' }],
      tools: [
        { name: 'f', input_schema: schema },
        { type: 'mcp_toolset', mcp_server_name: 'm' },
      ],
    },
    sent: ['"name":"f"'],
    notSent: /mcp/,
    note: /MCP servers left out/,
  },
  {
    name: 'documents with a context, or to be quoted',
    from: 'messages',
    more: {
      messages: [
        user([
          {
            type: 'document',
            context: 'From the archive.',
            citations: { enabled: true },
            source: { type: 'text', media_type: 'text/plain', data: 'The document.' },
          },
          text('What is it?'),
        ]),
      ],
    },
    sent: ['From the archive.', 'The document.', 'What is it?'],
    note: /citations/,
  },
];

const OTHER = { chat: 'messages', messages: 'chat' } as const;

for (const { name, from, more, sent, notSent, note } of CASES) {
  test(name, () =>
    withPair(
      {
        yaml: (url) =>
          `providers: { other: { kind: ${OTHER[from]}, base_url: "${url}", api_key: k } }\nrouting: { primary: other }\n`,
      },
      async (t) => {
        enforce(t.spare);
        const response = await exchange(t.proxy.port, {
          path: PATHS[from],
          body: bodyOf(from, false, more),
        });
        assert.is(response.status, 200, response.text);
        const body = t.spare.requests.at(-1)!.body.toString();
        let next = 0;
        for (const expectedText of sent) {
          const at = body.indexOf(expectedText, next);
          assert.ok(at >= 0, `${expectedText} in ${body}`);
          next = at + expectedText.length;
        }
        if (notSent !== undefined) assert.not.match(body, notSent);
        const trace = JSON.stringify(await traceOf(t, response));
        if (note !== undefined) assert.match(trace, note);
      },
    ),
  );
}

test.after(closeClients);
test.run();
