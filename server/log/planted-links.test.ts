/** Planted links and files where the proxy writes, and client keys that a provider echoes. */
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  mkdirSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../engine/index.ts';
import { withPlainUpstream } from '../../fixtures/plain-upstream.ts';
import { openStore } from '../../stages/conversations/store-file.ts';
import { MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import { until } from '../../fixtures/wait.ts';
import { credentialsOf } from './credentials.ts';
import { openSink } from './sink.ts';

function inFolder(use: (folder: string) => Promise<void>): () => Promise<void> {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-planted-'));
    try {
      await use(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

test(
  'a symbolic link in the place of the log is moved aside, not followed',
  inFolder(async (folder) => {
    const target = join(folder, 'target');
    writeFileSync(target, 'theirs', { mode: 0o644 });
    mkdirSync(join(folder, 'logs'));
    const path = join(folder, 'logs', 'svc.log');
    symlinkSync(target, path);
    const destination = { kind: 'file', path } as const;
    const sink = await openSink({ destination, retentionDays: 1, clock: systemClock });
    sink.write('a line\n');
    await sink.close();
    assert.is(readFileSync(target, 'utf8'), 'theirs');
    assert.is(lstatSync(target).mode & 0o777, 0o644);
    assert.ok(lstatSync(path).isFile());
    assert.is(readFileSync(path, 'utf8'), 'a line\n');
    assert.is(readdirSync(join(folder, 'logs')).length, 2);
  }),
);

for (const content of ['["slow:theirs","1"]\n', undefined]) {
  test(
    `a symbolic link in the place of the decisions is moved aside, not followed (${content === undefined ? 'to nothing' : 'to a file'})`,
    inFolder(async (folder) => {
      const target = join(folder, 'target');
      const file = join(folder, 'decisions.jsonl');
      if (content !== undefined) writeFileSync(target, content, { mode: 0o644 });
      symlinkSync(target, file);
      const failures: string[] = [];
      const store = await openStore({
        file,
        clock: systemClock,
        onProblem: (error) => failures.push(error.message),
      });
      assert.is(store.get('theirs'), undefined);
      store.set('ours', 'ours', { timedOut: ['1'] });
      await store.flush();
      assert.is(failures.length, 1);
      assert.match(failures[0] ?? '', 'is a link, which is not followed');
      if (content === undefined) assert.not.ok(existsSync(target));
      else assert.is(readFileSync(target, 'utf8'), content);
      assert.match(readFileSync(file, 'utf8'), /^\{"c":"ours".*"timedOut":\["1"\]\}\n$/);
    }),
  );
}

test(
  'a symbolic link that is planted later is not followed either',
  inFolder(async (folder) => {
    const file = join(folder, 'decisions.jsonl');
    const failures: string[] = [];
    const onProblem = (error: Error) => failures.push(error.message);
    const store = await openStore({ file, clock: systemClock, onProblem });
    symlinkSync(join(folder, 'target'), file);
    store.set('ours', 'ours', { timedOut: ['1'] });
    await store.flush();
    assert.is(failures.length, 1);
    assert.not.ok(existsSync(join(folder, 'target')));
  }),
);

test('finds credentials in headers and in the query', () => {
  const headers = ['X-Api-Key', 'a key', 'authorization', 'Bearer tok~en', 'Accept', 'text/html'];
  assert.equal(credentialsOf(headers, '/v1/x?key=in%20query&alt=sse&key=x'), [
    'a key',
    'key',
    'Bearer tok~en',
    'tok~en',
    'in query',
  ]);
  assert.equal(credentialsOf(['Helicone-Auth', 'Bearer theirs'], '/'), ['Bearer theirs', 'theirs']);
  assert.equal(credentialsOf([], '/'), []);
});

function read(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

const LOGGED = 'logging: { include_request_body: true, include_response_body: true }';

test('a key that the provider repeats is not in the log, whatever its shape', async () => {
  await withPlainUpstream({ yaml: LOGGED }, async ({ proxy, db }, upstream) => {
    upstream.answer((response, request) => {
      const key = String(request.headers['x-api-key'] ?? request.headers.authorization);
      const echo = { key, hex: Buffer.from(key).toString('hex'), words: `no such key: ${key}!` };
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ type: 'error', error: { type: 'x', message: JSON.stringify(echo) } }),
      );
    });
    for (const headers of [
      { 'x-api-key': 'Quite(unusual)~shape' },
      { authorization: 'Bearer odd=shape?of/key' },
    ]) {
      const response = await exchange(proxy.port, { body: json(MESSAGE), headers });
      assert.match(response.text, /shape/, "the client still gets the provider's response");
    }
    const file = join(dirname(db), 'logs', 'svc.log');
    const bodies = (): number => read(file).split('response body').length - 1;
    await until('two bodies in the log', () => bodies() >= 2);
    const log = read(file);
    assert.match(log, /response body/);
    assert.match(log, /no such key: /);
    assert.not.match(log, /unusual|odd=shape|dW51c3Vh/);
    assert.not.match(log, Buffer.from('Quite(unusual)~shape').toString('hex'));
  });
});

test.after(closeClients);
test.run();
