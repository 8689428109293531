import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { dialects } from '../dialect/registry.ts';
import { resolveEndpoint } from '../dialect/endpoints.ts';
import { toRequest, withReport } from '../model/request.ts';
import type { RequestReport } from '../model/request.ts';
import { estimateTokens } from '../model/tokens.ts';
import { createRequestSize } from './request-size.ts';

const tools = [{ name: 'Grep', description: 'Finds lines '.repeat(40), input_schema: {} }];
const user = { role: 'user', content: 'hello' };

function requestOf(json: object, report: RequestReport = { estimatedAfter: 1000 }) {
  const target = '/v1/messages';
  const endpoint = resolveEndpoint('POST', target, []);
  if (endpoint === undefined || 'allow' in endpoint) throw new Error('no endpoint');
  const bytes = Buffer.from(JSON.stringify(json));
  const body = {
    kind: 'body' as const,
    method: 'POST',
    target,
    headers: [],
    wireBytes: bytes,
    bytes,
    endpoint,
  };
  const dialect = dialects.messages;
  return withReport(toRequest({ body, dialect, facts: dialect.facts(json, target), json }), report);
}

test('tools are counted in addition to texts, and inputs of calls only once', () => {
  const sizeOf = createRequestSize();
  const input = { command: 'ls -la src' };
  const call = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'Bash', input }] };
  assert.is(sizeOf(requestOf({ messages: [user] })), 1000);
  const toolTokens = estimateTokens(JSON.stringify(tools));
  assert.is(sizeOf(requestOf({ tools, messages: [user] })), 1000 + toolTokens);
  assert.is(sizeOf(requestOf({ tools, messages: [user, call] })), 1000 + toolTokens);
  assert.is(sizeOf(requestOf({ messages: [user] }, { estimatedAfter: 5, injectedTokens: 7 })), 12);
});

test('no size is guessed if it cannot be determined', () => {
  const sizeOf = createRequestSize();
  const image = { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } };
  const search = { type: 'web_search_20250305', name: 'web_search' };
  for (const body of [
    { messages: [{ role: 'user', content: [image] }] },
    { messages: [user], tools: [search] },
    { messages: [user], previous_response_id: 'resp_1' },
  ]) {
    assert.is(sizeOf(requestOf(body)), undefined, JSON.stringify(body));
  }
  assert.is(sizeOf(requestOf({ messages: [user] }, {})), undefined);
});

test.run();
