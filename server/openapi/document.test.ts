/** The OpenAPI document: valid, in line with the routes, and true of real responses. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse, validate } from '@readme/openapi-parser';
import { Ajv } from 'ajv';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parse as parseYaml } from 'yaml';
import { projectRoot } from '../../fixtures/paths.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { errorTable } from '../http/error-response.ts';
import { openApiDocument, toOpenApiPath } from './document.ts';
import { ownOperations } from './own-operations.ts';

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly responses: Readonly<Record<string, { readonly headers?: object }>>;
  };
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in?: string }[];
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly headers?: object;
        readonly content?: Readonly<Record<string, { readonly schema: object }>>;
      }
    >
  >;
}

const document = openApiDocument('0.0.0') as unknown as Document;

/** Compiles `schema`, resolving its references to `components`. */
function validatorOf(schema: object) {
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  return ajv.compile({ ...schema, components: document.components });
}

function expectValid(schema: object, value: unknown, where: string): void {
  const check = validatorOf(schema);
  assert.ok(check(value), `${where}: ${JSON.stringify(check.errors?.slice(0, 3))}`);
}

async function served(t: TestProxy): Promise<Document> {
  const response = await fetch(`${t.proxy.url}/openapi.yaml`);
  assert.is(response.headers.get('content-type'), 'application/yaml; charset=utf-8');
  return parseYaml(await response.text(), { maxAliasCount: 0 }) as Document;
}

test('the document is valid OpenAPI 3.0 and is served unchanged', () =>
  withProxy({}, async (t) => {
    const yaml = await served(t);
    assert.equal(Object.keys(yaml.paths), Object.keys(document.paths));
    const result = await validate(structuredClone(yaml) as never);
    assert.ok(result.valid, JSON.stringify(result));
    await parse(structuredClone(yaml) as never);
  }));

test('every route is described, and every described path of ours is routed', () =>
  withProxy({}, (t) => {
    const routed = t.proxy.app.routes.map(({ method, path }) => `${method} ${path}`).toSorted();
    const described = ownOperations
      // The router counts HEAD as GET; this one path is for HEAD alone.
      .map(({ method, path }) => `${method === 'post' ? 'POST' : 'GET'} ${path}`)
      .toSorted();
    assert.equal(described, routed);
    return Promise.resolve();
  }));

test('path parameters are declared under the names used in the paths', () => {
  assert.ok('/trace/{request_id}' in document.paths);
  for (const [path, methods] of Object.entries(document.paths)) {
    assert.not.match(path, /\/[:*]|\{\}/);
    for (const { parameters = [] } of Object.values(methods)) {
      const declared = parameters
        .filter((parameter) => parameter.in === 'path')
        .map(({ name }) => name);
      assert.equal(
        declared,
        Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name),
        path,
      );
    }
  }
});

test('every status of the error table has an error response', () => {
  for (const { status } of Object.values(errorTable))
    assert.ok(`Error${status}` in document.components.responses, String(status));
});

const ASK = {
  model: 'claude-fixture-1',
  max_tokens: 9,
  messages: [{ role: 'user', content: 'Hi' }],
};

async function post(t: TestProxy, path: string, body: unknown, headers: object = {}) {
  return fetch(`${t.proxy.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'mine', ...headers },
    body: JSON.stringify(body),
  });
}

/** Returns each of our GET paths with the URL to request for it. */
function requestsOf(id: string): readonly (readonly [path: string, url: string])[] {
  return ownOperations
    .filter(({ method }) => method === 'get')
    .map(({ path }) => {
      const url = path.replace(/:(?:request_)?id/, path.includes('svc') ? 'last' : id);
      const query = path === '/vault/search' ? '?query=tide' : '';
      return [path, url.replace(':page', 'settings') + query] as const;
    })
    .filter(([path]) => path !== '/v1/svc/blocks/:id');
}

async function expectAnswers(t: TestProxy, id: string): Promise<string[]> {
  const refused: string[] = [];
  for (const [path, url] of requestsOf(id)) {
    const response = await fetch(`${t.proxy.url}${url}`);
    // An event stream has no end.
    if (path === '/dashboard/events') {
      assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
      await response.body?.cancel();
      continue;
    }
    const responses = document.paths[toOpenApiPath(path)]?.['get']?.responses ?? {};
    const type = (response.headers.get('content-type') ?? '').split(';', 1)[0]!;
    const body = await response.text();
    assert.ok(response.headers.get('x-request-id'), path);
    if (!response.ok) {
      assert.ok(String(response.status) in responses, `${path} ${response.status}`);
      expectValid(document.components.schemas['Error']!, JSON.parse(body), path);
      refused.push(path);
      continue;
    }
    const content = responses['200']?.content;
    if (content === undefined) assert.is(body, '', path);
    else {
      assert.ok(type in content, `${path} ${type}`);
      if (type === 'application/json') expectValid(content[type]!.schema, JSON.parse(body), path);
    }
  }
  return refused;
}

test('responses match their descriptions, before and after the first requests', () =>
  withProxy({ yaml: 'compression: { threshold_tokens: 0 }' }, async (t) => {
    const before = await expectAnswers(t, 'nobody');
    assert.equal(before, [
      '/dashboard/api/request/:id',
      '/trace/:request_id',
      '/why/:id',
      '/v1/svc/lost/:id',
    ]);
    const log = Array.from({ length: 400 }, (_, n) => `GET /items/${n % 7} 200 in 5 ms`).join('\n');
    const call = { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'make' } };
    const messages = [
      { role: 'user', content: 'Run it' },
      { role: 'assistant', content: [call] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: log }] },
    ];
    const ok = await post(t, '/v1/messages', { ...ASK, messages });
    expectValid(document.components.schemas['MessagesAnswer']!, await ok.json(), 'messages');
    const chat = await post(t, '/v1/chat/completions', { ...ASK, model: 'gpt-4o' });
    expectValid(document.components.schemas['ChatAnswer']!, await chat.json(), 'chat');
    await t.rows(2);
    const id = ok.headers.get('x-svc-request-id') ?? '';
    assert.equal(await expectAnswers(t, id), []);
  }));

test('the path of the WebSocket responds with 426 to a request without an upgrade', () =>
  withProxy({}, async (t) => {
    assert.ok('426' in (document.paths['/ws']?.['get']?.responses ?? {}));
    for (const url of [t.proxy.url, `http://127.0.0.1:${t.proxy.wsPort}`])
      for (const method of ['GET', 'POST']) {
        const response = await fetch(`${url}/ws`, { method });
        assert.is(response.status, 426, `${method} ${url}`);
        assert.is(response.headers.get('upgrade'), 'websocket');
        assert.match(response.headers.get('connection') ?? '', /\bUpgrade\b/);
        const { error } = (await response.json()) as { error: Record<string, unknown> };
        assert.is(error['type'], 'upgrade_required');
        assert.match(String(error['message']), /is a WebSocket/);
      }
  }));

test('POST requests are answered as described', () =>
  withProxy({}, async (t) => {
    const block = { block_id: 'b1', content: 'The rate limit is 40.', source_path: 'notes.md' };
    const schemas = document.components.schemas;
    const response = await post(t, '/ingest', block);
    expectValid(schemas['Ingested']!, await response.json(), '/ingest');
    const many = await post(t, '/ingest/batch', { blocks: [{ ...block, block_id: 'b2' }, {}] });
    expectValid(schemas['BatchIngested']!, await many.json(), '/ingest/batch');
    const reloaded = await post(t, '/config/reload', {});
    expectValid(schemas['Reloaded']!, await reloaded.json(), '/config/reload');
    for (const [path, body, status] of [
      ['/ingest', {}, 400],
      ['/ingest/batch', [], 422],
      ['/v1/messages', { model: 'm' }, 400],
    ] as const) {
      const refused = await post(t, path, body);
      assert.is(refused.status, status, path);
      const responses = document.paths[path]?.['post']?.responses ?? {};
      assert.ok(String(status) in responses, `${path} ${status}`);
      expectValid(schemas['Error']!, await refused.json(), path);
    }
  }));

/** Returns the names of our header fields that the program reads or writes, in lower case. */
function namedInSources(): Set<string> {
  const names = new Set<string>();
  for (const folder of ['stages', 'server/generation', 'server/sink', 'server/capture'])
    for (const file of readdirSync(join(projectRoot, folder), { recursive: true })) {
      if (!/(?<!\.test|-testing)\.ts$/.test(String(file))) continue;
      const source = readFileSync(join(projectRoot, folder, String(file)), 'utf8');
      for (const [, name] of source.matchAll(/'(x-svc-[a-z-]+)'/gi)) names.add(name!.toLowerCase());
    }
  return names;
}

test('every header field of ours is described', () => {
  const operation = document.paths['/v1/messages']!['post']!;
  const described = [
    ...(operation.parameters ?? []).map(({ name }) => name),
    ...Object.keys(operation.responses['200']?.headers ?? {}),
    // The key is described under security schemes.
    'X-Svc-Key',
  ];
  const ours = described
    .map((name) => name.toLowerCase())
    .filter((name) => name.startsWith('x-svc-'));
  assert.equal([...new Set(ours)].toSorted(), [...namedInSources()].toSorted());
});

test('responses have only the described header fields of ours', () =>
  withProxy({ yaml: 'security: { rate_limit_per_minute: 5 }' }, async (t) => {
    const asks = { ...ASK, temperature: 0 };
    for (const [method, path, status] of [
      ['post', '/v1/messages', 200],
      ['post', '/v1/messages', 200],
      ['delete', '/stats', 405],
      ['get', '/trace/nobody', 404],
      ['get', '/stats', 200],
      ['get', '/stats', 429],
    ] as const) {
      const response =
        method === 'post'
          ? await post(t, path, asks)
          : await fetch(`${t.proxy.url}${path}`, { method: method.toUpperCase() });
      assert.is(response.status, status, path);
      const { headers = {} } =
        status === 200
          ? document.paths[path]![method]!.responses[status]!
          : document.components.responses[`Error${status}`]!;
      const described = Object.keys(headers).map((name) => name.toLowerCase());
      const sent = [...response.headers.keys()].filter((name) =>
        /^(?:x-(?!content-type-options)|retry-after|allow$)/.test(name),
      );
      for (const name of sent) assert.ok(described.includes(name), `${path} ${status}: ${name}`);
      if (status > 200) assert.equal(sent.toSorted(), described.toSorted(), String(status));
    }
  }));

test.run();
