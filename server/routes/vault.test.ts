import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { openLock } from '../../stages/lock.ts';
import { layoutOf } from '../../stages/vault/log/layout.ts';
import { closeClients, exchange } from '../../fixtures/server/exchange.ts';
import {
  DIALECTS,
  FILES,
  makeVaultPlace,
  forwardedBody,
  withVault,
} from '../../fixtures/server/vault.ts';

const [MESSAGES] = DIALECTS;
const about = (text: string) => MESSAGES.body([MESSAGES.user(text)]);

interface Json {
  readonly [key: string]: unknown;
  readonly error?: { readonly type: string; readonly message: string; readonly code?: string };
  readonly results?: readonly Json[];
  readonly errors?: readonly Json[];
  readonly block_list?: readonly Json[];
  readonly ids?: readonly string[];
}

async function call(
  { proxy }: TestProxy,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; json: Json }> {
  const { status, text } = await exchange(proxy.port, {
    path,
    method: body === undefined ? 'GET' : 'POST',
    headers,
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status, json: JSON.parse(text) as Json };
}

const TULIP = {
  block_id: 'note-1',
  content: 'The vorpal tulip blooms in Narvik.',
  source_path: 'n/1',
};

test('an ingested block is confirmed with its id and size, and used for the next question', async () => {
  await withVault(async (rig, place) => {
    const { status, json } = await call(rig, '/ingest', TULIP);
    assert.is(status, 200);
    assert.equal(
      { ...json, tokens: typeof json['tokens'] },
      { status: 'ok', ids: ['note-1'], block_id: 'note-1', tokens: 'number', stored: true },
    );
    // The block is on disk before the response.
    assert.match(readFileSync(join(place.folder, 'index', 'blocks.jsonl'), 'utf8'), /vorpal tulip/);
    assert.match(
      await forwardedBody(rig, MESSAGES.path, about('where is the vorpal tulip?')),
      /--- n\/1\\nThe vorpal/,
    );
    const named = await call(rig, '/ingest', { content: 'A block without a name.' });
    assert.match(String(named.json['block_id']), /^ingest-/);
  });
});

test('the same block is accepted twice, and other content under its id is a conflict', async () => {
  await withVault(async (rig) => {
    await call(rig, '/ingest', TULIP);
    const again = await call(rig, '/ingest', TULIP);
    assert.equal([again.status, again.json['stored']], [200, false]);
    const other = await call(rig, '/ingest', { ...TULIP, content: 'Something else.' });
    assert.equal([other.status, other.json.error?.type], [409, 'conflict']);
    const { json } = await call(rig, '/vault?limit=10000');
    assert.is(json.block_list?.filter((block) => block['block_id'] === 'note-1').length, 1);
  });
});

test('an invalid block is refused, naming the wrong field', async () => {
  await withVault(async (rig) => {
    const cases: [string, unknown, number, string | undefined][] = [
      ['/ingest', '{', 400, 'VALIDATION_001'],
      ['/ingest', '', 400, 'VALIDATION_002'],
      ['/ingest', [TULIP], 400, 'VALIDATION_003'],
      ['/ingest', { block_id: 'x' }, 400, 'VALIDATION_002'],
      ['/ingest', { content: 5 }, 400, 'VALIDATION_003'],
      ['/ingest', { content: '  ' }, 422, undefined],
      ['/ingest', { content: 'x', block_id: 'a b' }, 422, undefined],
      ['/ingest/batch', {}, 400, 'VALIDATION_002'],
      ['/ingest/batch', 5, 400, 'VALIDATION_003'],
      ['/ingest/batch', { blocks: {} }, 400, 'VALIDATION_003'],
      ['/ingest/batch', [], 422, undefined],
      ['/ingest/batch', Array.from({ length: 1001 }, () => TULIP), 422, undefined],
      ['/ingest/batch', [{ content: 5 }, { content: '' }], 422, undefined],
    ];
    for (const [path, body, status, code] of cases) {
      const response = await call(rig, path, body);
      const printed = `${path} ${JSON.stringify(body).slice(0, 60)}`;
      assert.equal([response.status, response.json.error?.code], [status, code], printed);
    }
    const { json } = await call(rig, '/vault');
    assert.is(json['blocks'], Object.keys(FILES).length);
    const { headers } = await exchange(rig.proxy.port, { path: '/ingest', method: 'GET' });
    assert.match(String(headers['allow']), /POST/);
  });
});

test('a batch may be posted under any of its names, and its valid blocks are stored', async () => {
  await withVault(async (rig) => {
    for (const [index, name] of ['blocks', 'documents', 'events'].entries()) {
      const list = [{ block_id: `b${index}`, content: `Content number ${index}.` }];
      const { status, json } = await call(rig, '/ingest/batch', { [name]: list });
      assert.equal([status, json['ingested'], json.ids], [200, 1, [`b${index}`]]);
    }
    const mixed = await call(rig, '/ingest/batch', [
      TULIP,
      { block_id: 'b0', content: 'Other content.' },
      { content: 7 },
      { block_id: 'b9', content: 'The ninth.', risk_class: 'Internal' },
    ]);
    assert.equal(
      [mixed.status, mixed.json['ingested'], mixed.json.ids],
      [200, 2, ['note-1', 'b9']],
    );
    assert.equal(
      mixed.json.results?.map((result) => [result['index'], result['status'], result.error?.type]),
      [
        [0, 'ok', undefined],
        [1, 'error', 'conflict'],
        [2, 'error', 'bad_request'],
        [3, 'ok', undefined],
      ],
    );
    assert.equal(
      mixed.json.errors?.map((error) => error['index']),
      [1, 2],
    );
    const { json } = await call(rig, '/vault');
    assert.is(
      json.block_list?.find((block) => block['block_id'] === 'b9')?.['risk_class'],
      'internal',
    );
  });
});

test('a thousand blocks can be ingested and listed in pages', async () => {
  await withVault(async (rig) => {
    const blocks = Array.from({ length: 1000 }, (_, n) => ({
      block_id: `k-${String(n).padStart(4, '0')}`,
      content: `Block ${n} tells about subject ${n}. `.repeat(10),
    }));
    const { json } = await call(rig, '/ingest/batch', { blocks });
    assert.equal([json['ingested'], json.ids?.[999]], [1000, 'k-0999']);
    const all = await call(rig, '/vault?limit=10000');
    assert.is(all.json.block_list?.length, 1003);
    assert.is((await call(rig, '/vault')).json.block_list?.length, 1000);
    const page = await call(rig, '/vault?offset=1000&limit=2');
    assert.equal(page.json.block_list, all.json.block_list?.slice(1000, 1002));
    for (const query of ['limit=10001', 'limit=x', 'offset=-1']) {
      assert.is((await call(rig, `/vault?${query}`)).status, 400, query);
    }
  });
});

test('/vault, /health and /stats report the contents of the vault', async () => {
  await withVault(async (rig, place) => {
    const path = join(place.folder, 'index');
    const { json } = await call(rig, '/vault');
    assert.equal([json['available'], json['blocks'], json['path']], [true, 3, path]);
    assert.ok(Number(json['total_tokens']) > 30);
    const [first] = json.block_list ?? [];
    assert.equal([first?.['source_path'], first?.['risk_class']], ['gate.md', 'safe']);
    assert.type(first?.['raw_tokens'], 'number');
    for (const where of ['/health', '/stats']) {
      const { json: reported } = await call(rig, where);
      assert.equal(reported['vault_index'], { available: true, blocks: 3, path }, where);
    }
    assert.is((await call(rig, '/health')).json['capsule_available'], false);
  });
});

test('without an index nothing is available, and no file is created until something is written', async () => {
  const place = makeVaultPlace();
  const rig = await place.start();
  try {
    const { json } = await call(rig, '/vault');
    assert.equal([json['available'], json['blocks'], json.block_list], [false, 0, []]);
    assert.is((await call(rig, '/health')).json['status'], 'ok');
    const raw = about('the flumbrick gate?');
    assert.is(await forwardedBody(rig, MESSAGES.path, raw), JSON.stringify(raw));
    assert.not.ok(existsSync(join(place.folder, 'index')));
    const { status, json: ingested } = await call(rig, '/ingest', TULIP);
    assert.is(status, 200, JSON.stringify(ingested));
    const received = await forwardedBody(rig, MESSAGES.path, about('the vorpal tulip?'));
    const [row] = (await rig.rows(2)).slice(-1);
    assert.match(received, /Narvik/, JSON.stringify(await call(rig, `/trace/${row!.id}`)));
  } finally {
    await rig.close();
    place.dispose();
  }
});

test('a vault that cannot be read fails no request, and is reported in /health', async () => {
  const place = makeVaultPlace();
  mkdirSync(layoutOf(join(place.folder, 'index')).log, { recursive: true });
  const rig = await place.start();
  try {
    const raw = about('the flumbrick gate?');
    assert.is(await forwardedBody(rig, MESSAGES.path, raw), JSON.stringify(raw));
    const { json } = await call(rig, '/health');
    assert.is(json['status'], 'degraded');
    assert.match(String(json['reasons']), /vault: the index cannot be used/);
    const [row] = await rig.rows(1);
    const trace = await call(rig, `/trace/${row!.id}`);
    assert.match(JSON.stringify(trace.json), /not_injected_because/);
  } finally {
    await rig.close();
    place.dispose();
  }
});

test('requests do not wait for a busy vault, and keep the blocks added before', async () => {
  await withVault(
    async (rig, place) => {
      const first = await forwardedBody(rig, MESSAGES.path, about('the flumbrick gate?'));
      assert.match(first, /svc added/);
      const { dir, syncLock, log } = layoutOf(join(place.folder, 'index'));
      const lock = openLock(syncLock);
      const release = lock.tryAcquire();
      assert.ok(release !== undefined && existsSync(log) && dir !== '');
      // Another process has appended to the log, and holds the lock under which the log is
      // synchronised.
      place.write({ 'later.md': 'Later.\n' });
      const { indexFolder } = await import('../../stages/vault/indexing/indexer.ts');
      const { clock } = rig.proxy.services;
      await indexFolder({
        root: place.files,
        indexDir: dir,
        clock,
        newId: () => 'x',
        parseCode: false,
      });
      const startMs = performance.now();
      const grown = await forwardedBody(
        rig,
        MESSAGES.path,
        MESSAGES.body([
          MESSAGES.user('the flumbrick gate?'),
          MESSAGES.assistant('Twice.'),
          MESSAGES.user('and the zandrel lamp?'),
        ]),
      );
      const tookMs = performance.now() - startMs;
      assert.ok(tookMs > 150, `${tookMs} ms`);
      assert.ok(grown.startsWith(first.slice(0, -2)));
      assert.is(grown.split('[svc added').length, 2);
      release();
      lock.close();
    },
    { env: { SVC_RETRIEVAL_BACKEND: 'sqlite' } },
  );
});

test.after(closeClients);
test.run();
