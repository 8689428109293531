/**
 * `/mcp` with the official client: which tools each caller is offered, and that the gate protects
 * it.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { call } from '../../../fixtures/cli/mcp-client.ts';
import { projectRoot } from '../../../fixtures/paths.ts';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';

const KEY = 'svc_0123456789abcdefghijABCDEFGHIJ45';

async function withClient(
  t: TestProxy,
  headers: Readonly<Record<string, string>>,
  use: (client: Client) => Promise<void>,
): Promise<void> {
  const client = new Client({ name: 'svc-test', version: '1.0.0' });
  const url = new URL(`${t.proxy.url}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  try {
    await use(client);
  } finally {
    await client.close();
  }
}

const namesOf = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);

test('serves tools, documentation and templates over HTTP', () =>
  withProxy({}, async (t) => {
    const folder = join(dirname(t.db), 'templates');
    mkdirSync(folder);
    const head = '---\ndescription: Reviews\nvariables: { style: short, diff: {} }\n---\n';
    writeFileSync(join(folder, 'review.md'), `${head}Review {{diff}}, {{style}}.`);
    writeFileSync(join(folder, 'plain.md'), 'Say hello.');
    writeFileSync(join(folder, 'faulty.md'), '---\na: [\n---\ntext');
    await withClient(t, {}, async (client) => {
      const { tools } = await client.listTools();
      assert.equal(namesOf(tools).toSorted(), [
        'explain_request',
        'get_block',
        'limits',
        'search_vault',
        'usage',
      ]);
      const used = await call(client, 'usage');
      assert.is('session' in (JSON.parse(used.text) as object), true);
      const none = await call(client, 'explain_request', { id: 'nobody' });
      assert.equal([none.isError, /No request/.test(none.text)], [true, true]);
      const climbing = await call(client, 'explain_request', { id: '..' });
      assert.is(climbing.isError, true);
      const { resources } = await client.listResources();
      assert.ok(resources.some(({ uri }) => uri === 'svc://docs/mcp'));
      const { contents } = await client.readResource({ uri: 'svc://docs/mcp' });
      const page = readFileSync(join(projectRoot, 'docs/mcp.md'), 'utf8');
      const [text] = contents.map((part) => ('text' in part ? part.text : ''));
      assert.is(text!.split('\n', 1)[0], page.split('\n', 1)[0]);
      const { prompts } = await client.listPrompts();
      assert.equal(namesOf(prompts).toSorted(), ['plain', 'review']);
      const review = prompts.find(({ name }) => name === 'review');
      assert.equal(
        review?.arguments?.map(({ name, required }) => [name, required]),
        [
          ['diff', true],
          ['style', false],
        ],
      );
      const filled = await client.getPrompt({ name: 'review', arguments: { diff: 'this' } });
      assert.equal(filled.messages[0]?.content, { type: 'text', text: 'Review this, short.' });
    });
    assert.equal(t.upstream.requests, []);
  }));

test('a caller on another machine needs a key, and gets no text of conversations', () =>
  withProxy({ yaml: `security: { api_key: ${KEY} }\n` }, async (t) => {
    const far = { 'x-forwarded-for': '203.0.113.9' };
    await withClient(t, { ...far, 'x-svc-key': KEY }, async (client) => {
      const { tools } = await client.listTools();
      assert.equal(namesOf(tools).toSorted(), [
        'explain_request',
        'limits',
        'search_vault',
        'usage',
      ]);
      assert.is((await call(client, 'limits')).isError, false);
      const refused = await client
        .callTool({ name: 'get_block', arguments: { id: 'AAAAAAAAAAAA' } })
        .then(({ isError }) => isError === true)
        .catch(() => true);
      assert.is(refused, true);
      assert.is(client.getServerCapabilities()?.prompts, undefined);
    });
  }));

test('a foreign page, a foreign Host and a caller without a key are refused before a message is read', () =>
  withProxy({}, async (t) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
    const ask = async (headers: Readonly<Record<string, string>>, method = 'POST') => {
      const accept = { accept: 'application/json, text/event-stream' };
      const given = method === 'POST' ? { body } : {};
      const sent = { path: '/mcp', method, headers: { ...accept, ...headers }, ...given };
      return (await exchange(t.proxy.port, sent)).status;
    };
    assert.is(await ask({}), 200);
    assert.is(await ask({ origin: 'https://evil.example' }), 401);
    assert.is(await ask({ 'sec-fetch-site': 'cross-site' }), 401);
    assert.is(await ask({ host: 'evil.example' }), 403);
    assert.is(await ask({ 'x-forwarded-for': '203.0.113.9' }), 401);
    assert.is(await ask({ 'content-type': 'text/plain' }), 415);
    assert.equal([await ask({}, 'GET'), await ask({}, 'DELETE')], [405, 405]);
  }));

test.after(closeClients);
test.run();
