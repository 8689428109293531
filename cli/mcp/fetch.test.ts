/**
 * A model fetches what svc left out of its request through `svc mcp`, from the first question to
 * the final answer.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Client } from '@modelcontextprotocol/client';
import {
  FETCHED_WORDS,
  WHOLE,
  buildLog,
  fetchingModel,
} from '../../fixtures/clients/fetching-model.ts';
import { withLive } from '../../fixtures/cli/live.ts';
import type { Json, Live } from '../../fixtures/cli/live.ts';
import { call, withMcp } from '../../fixtures/cli/mcp-client.ts';

const SETTINGS = ['compression: { threshold_tokens: 0, log_budget_tokens: 300 }'];

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: Json;
}

/**
 * Continues until the model calls no tool; returns the last request as the provider received it.
 */
async function agent(
  live: Live,
  client: Client,
): Promise<{ finalText: string; resultText: string }> {
  const { tools } = await client.listTools();
  const declared = [
    { name: 'Bash', input_schema: { type: 'object', properties: { command: {} } } },
    ...tools.map(({ name, description, inputSchema }) => ({
      name: `mcp__svc__${name}`,
      description,
      input_schema: inputSchema,
    })),
  ];
  const messages: object[] = [{ role: 'user', content: 'Read the log.' }];
  for (;;) {
    const response = await fetch(`${live.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'claude-sonnet-4-5',
        max_tokens: 99,
        tools: declared,
        messages,
      }),
    });
    const { content } = (await response.json()) as { readonly content: readonly Part[] };
    const calls = content.filter(({ type }) => type === 'tool_use');
    if (calls.length === 0)
      return {
        finalText: content.map(({ text }) => text).join(''),
        resultText: live.upstream.requests.at(-1)!.body.toString(),
      };
    messages.push({ role: 'assistant', content });
    const results = await Promise.all(
      calls.map(async ({ id, name = '', input }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content:
          name === 'Bash'
            ? buildLog()
            : (await call(client, name.replace('mcp__svc__', ''), input)).text,
      })),
    );
    messages.push({ role: 'user', content: results });
  }
}

test('the model fetches an omitted block by the id in its marker, byte for byte', () =>
  withLive(
    (live) =>
      withMcp(live.place, async (client) => {
        const { finalText, resultText } = await agent(live, client);
        assert.is(finalText, FETCHED_WORDS);
        const { messages } = JSON.parse(resultText) as {
          readonly messages: readonly {
            readonly content: readonly { readonly content: string }[];
          }[];
        };
        const [shortened, fetched] = [2, 4].map((at) => messages[at]!.content[0]!.content);
        assert.ok(shortened!.length < buildLog().length / 2, 'it was left out');
        assert.is(fetched, buildLog());
        const [, , id] = WHOLE.exec(shortened!) ?? [];
        const part = await call(client, 'get_block', { id, first_line: 101, last_line: 103 });
        const lines = buildLog().split('\n');
        assert.is(part.text, lines.slice(100, 103).join('\n'));
        const rest = { id, first_line: lines.length, last_line: lines.length + 9 };
        assert.is((await call(client, 'get_block', rest)).text, lines.at(-1));
        const past = await call(client, 'get_block', { id, first_line: lines.length + 1 });
        assert.is(past.isError, true);
        assert.match(past.text, `The text has ${lines.length} lines`);
        const turned = await call(client, 'get_block', { id, first_line: 9, last_line: 8 });
        assert.equal([turned.isError, /before first_line/.test(turned.text)], [true, true]);
      }),
    { replies: fetchingModel, settings: SETTINGS },
  ));

test('a block that is no longer stored is reported as such', () =>
  withLive((live) =>
    withMcp(live.place, async (client) => {
      const { text, isError } = await call(client, 'get_block', { id: 'AAAAAAAAAAAA' });
      assert.is(isError, true);
      assert.match(text, 'it keeps only the newest 32 MB. Call the tool that returned it');
    }),
  ));

test.run();
