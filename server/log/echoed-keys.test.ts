/** A provider may echo the key that it was sent: nothing stored of its messages contains a key. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { streamOf, withPlainUpstream } from '../../fixtures/plain-upstream.ts';
import type { Handler } from '../../fixtures/plain-upstream.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';

const CONFIGURED = 'configured/canary+1==';
const OWN = 'own-canary-2';

/** Everything stored about the requests so far. */
type StoredTexts = readonly string[];

function withEcho(
  yaml: string,
  answer: (key: string) => Handler,
  use: (
    ask: (path: string, body: string, headers?: Record<string, string>) => Promise<string>,
    kept: () => Promise<StoredTexts>,
  ) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-words-'));
  const file = join(folder, 'spans.jsonl');
  const settings = `${yaml}telemetry: { enabled: true, log_file: "${file}" }\n`;
  const env = { CHATPROV_API_KEY: CONFIGURED };
  return withPlainUpstream({ yaml: settings, env }, async (t, upstream) => {
    upstream.answer((response, request) => {
      answer(request.headers.authorization ?? '')(response, request);
    });
    let count = 0;
    await use(
      async (path, body, headers = {}) => {
        count += 1;
        return (await exchange(t.proxy.port, { path, body, headers })).text;
      },
      async () => {
        const rows = JSON.stringify(await t.rows(count));
        await t.proxy.services.telemetry.close();
        const traces = JSON.stringify(t.proxy.services.traces.list());
        return [rows, traces, readFileSync(file, 'utf8')];
      },
    );
  }).finally(() => rmSync(folder, { recursive: true }));
}

function expectNone(kept: StoredTexts): void {
  for (const text of kept) {
    assert.not.match(text, 'canary');
    assert.match(text, 'redacted');
  }
}

test('a stream error converted to a document', () =>
  withEcho(
    'routing: { primary: chat }\n',
    (key) => streamOf({ error: { message: `No such key: ${key}` } }),
    async (ask, kept) => {
      assert.match(await ask('/v1/messages', json(MESSAGE)), 'No such key');
      const [rows, traces, spans] = await kept();
      assert.not.match(rows!, 'canary');
      expectNone([traces!]);
      // Spans leave the machine, so they contain no provider text at all.
      assert.not.match(spans!, 'No such key');
      assert.match(spans!, 'status 200');
    },
  ));

test('a model name', () =>
  withEcho(
    '',
    (key) => (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ model: `model ${key}`, usage: { prompt_tokens: 1 } }));
    },
    async (ask, kept) => {
      const path = '/v1/chat/completions';
      await ask(path, json(CHAT));
      await ask(path, json(CHAT), { authorization: `Bearer ${OWN}` });
      const [rows, traces, spans] = await kept();
      expectNone([rows!, spans!]);
      assert.not.match(traces!, 'canary');
    },
  ));

test.after(closeClients);
test.run();
