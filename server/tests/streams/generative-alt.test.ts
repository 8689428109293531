/**
 * Google takes `$alt=sse`, the name of the parameter in its REST conventions, as it takes `alt=sse`:
 * a stream of events, and not one JSON array.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import { closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';

const PATH = '/v1beta/models/claude-fixture-1:streamGenerateContent';
const BODY = json({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] });

const WAYS = {
  'as it came': '',
  'translated for messages': 'routing: { primary: messages }',
  'translated for chat': 'routing: { primary: chat }',
  'from a whole answer': 'streaming: { enabled: false }',
  'from a whole answer, translated': 'routing: { primary: chat }\nstreaming: { enabled: false }',
} as const;

const EVENTS = ['?alt=sse', '?$alt=sse', '?%24alt=sse', '?x=1&$alt=sse&y=2'];
const ARRAYS = ['', '?alt=json', '?$alt=json', '?xalt=sse'];

for (const [way, yaml] of Object.entries(WAYS))
  test(`a generative stream ${way} has the form that its query asks for`, () =>
    withProxy({ yaml }, async (t) => {
      for (const query of EVENTS) {
        const { status, headers, text } = await exchange(t.proxy.port, {
          path: `${PATH}${query}`,
          body: BODY,
        });
        assert.is(status, 200, text);
        assert.match(headers['content-type'] ?? '', /^text\/event-stream/, query);
        assert.match(text, /^data: \{/, query);
        const { path, query: sent } = t.upstream.requests.at(-1)!;
        if (path.endsWith(':generateContent')) assert.not.match(sent, 'sse', 'a whole answer');
      }
      for (const query of ARRAYS) {
        const { status, headers, text } = await exchange(t.proxy.port, {
          path: `${PATH}${query}`,
          body: BODY,
        });
        assert.is(status, 200, text);
        assert.match(headers['content-type'] ?? '', /^application\/json/, query);
        assert.ok(Array.isArray(JSON.parse(text)), query);
      }
    }));

test.after(closeClients);
test.run();
