/** `svc mcp` as started by a client, with and without a running proxy. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withLive } from '../../fixtures/cli/live.ts';
import type { Json } from '../../fixtures/cli/live.ts';
import { call, withMcp } from '../../fixtures/cli/mcp-client.ts';
import { inPlace, start, write } from '../../fixtures/cli/run.ts';
import { addHeaders } from '../../fixtures/upstream/added-headers.ts';

const parsed = (text: string): Json => JSON.parse(text) as Json;

test('the tools return the same as the commands and paths, and each is marked as read-only', () =>
  withLive(async (live) => {
    const undo = live.upstream.script(undefined, '400', { times: 1 });
    const failed = await live.ask('claude-sonnet-4-5', 'Why?').finally(undo);
    await live.ask('claude-sonnet-4-5', 'And now?', { 'x-svc-project': 'shop' });
    await live.rows();
    await withMcp(live.place, async (client) => {
      const { tools } = await client.listTools();
      assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true));
      const used = parsed((await call(client, 'usage')).text);
      assert.is((used['session'] as Json)['requests'], 2);
      assert.is('shop' in (used['by_project'] as Json), true);
      const newest = parsed((await call(client, 'explain_request')).text);
      assert.equal(newest, await live.json('why', '--json'));
      const ending = failed.id.slice(-8);
      const why = parsed((await call(client, 'explain_request', { id: ending })).text);
      assert.equal(why, await live.json('why', failed.id, '--json'));
      assert.match(String(why['outcome']), 'failed (400)');
      assert.equal(parsed((await call(client, 'limits')).text), await live.get('/limits'));
    });
  }));

test('a search finds only what may be sent to a provider', () =>
  withLive(async (live) => {
    const files = join(live.place.folder, 'notes');
    mkdirSync(files);
    write(live.place, 'notes/tide.md', '# Tides\n\nThe harbour gauge is read twice a day.\n');
    write(live.place, 'notes/.env', 'HARBOUR_GAUGE_PASSWORD=hunter2-harbour-gauge\n');
    await withMcp(live.place, async (client) => {
      // A search must see the index as it is now, not as the proxy saw it a moment ago.
      const before = await call(client, 'search_vault', { query: 'harbour gauge' });
      assert.equal(parsed(before.text)['hits'], [], before.text);
      assert.is((await live.svc('index', files)).code, 0);
      const { text, isError } = await call(client, 'search_vault', { query: 'harbour gauge' });
      assert.is(isError, false, text);
      const hits = parsed(text)['hits'] as readonly Json[];
      assert.is(hits.length, 1);
      assert.match(String(hits[0]!['source_path']), 'tide.md');
      assert.match(String(hits[0]!['content']), 'read twice a day');
      const empty = await call(client, 'search_vault', { query: '' });
      assert.is(empty.isError, true);
    });
  }));

test('the limits reported by the provider are passed through', () =>
  withLive(async (live) => {
    const fields = { 'anthropic-ratelimit-unified-5h-utilization': '0.42' };
    const undo = live.upstream.script(undefined, addHeaders(fields));
    await live.ask('claude-sonnet-4-5', 'How far?').finally(undo);
    await withMcp(live.place, async (client) => {
      const { limits } = parsed((await call(client, 'limits')).text);
      assert.is((limits as readonly Json[])[0]!['used'], 0.42);
    });
  }));

test('without a proxy the tools say so, and an unknown id is an error for the model', () =>
  inPlace(async (place) => {
    await withMcp(place, async (client) => {
      const { text, isError } = await call(client, 'usage');
      assert.is(isError, true);
      assert.match(text, 'svc is not running. `svc start --background` starts it.');
    });
  }));

test('the server ends when its client does', () =>
  inPlace(async (place) => {
    const { ended } = start(place, ['mcp']);
    const { code, stdout, stderr } = await ended;
    assert.equal([code, stdout, stderr], [0, '', '']);
  }));

test.run();
