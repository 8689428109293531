/** Callers: the key's label and the project's name are in the row and wherever sums are shown. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../engine/clock.ts';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import { openTalk } from '../../../fixtures/server/websocket.ts';
import { auditFiles } from '../../../stages/audit/files.ts';
import { openKeyStore } from '../../auth/auth.ts';

const REMOTE = { 'x-forwarded-for': '10.1.2.3' };

function keyOf(t: TestProxy, label: string, project?: string): string {
  const file = join(dirname(t.db), 'keys.json');
  const store = openKeyStore({ file, clock: systemClock, random: randomBytes });
  return store.create({ label, ...(project !== undefined && { project }) }).key;
}

const ask = (t: TestProxy, headers: Readonly<Record<string, string>>, body: object = MESSAGE) =>
  exchange(t.proxy.port, { headers, body: json(body) });

const get = async (t: TestProxy, path: string) =>
  (await exchange(t.proxy.port, { method: 'GET', path })).body.toString('utf8');

test('a row has the label of the key, in whichever field it was sent, and the project', () =>
  withProxy({}, async (t) => {
    const anna = keyOf(t, 'anna', 'shop');
    const unnamed = keyOf(t, '');
    const sent = [
      [{ ...REMOTE, 'x-svc-key': anna }, 'anna', 'shop'],
      [{ ...REMOTE, authorization: `Bearer ${anna}`, 'x-svc-project': ' api ' }, 'anna', 'api'],
      // A local request needs no key, but a key still names its owner.
      [{ 'x-svc-key': anna }, 'anna', 'shop'],
      [{ 'x-svc-project': '/home/anna/secret/web/' }, null, 'web'],
      [{ 'x-svc-project': 'p'.repeat(5000) }, null, 'p'.repeat(200)],
      [{ 'x-svc-project': Buffer.from('größe').toString('latin1') }, null, 'größe'],
      [{ 'x-svc-project': 'gr\u00f6\u00dfe' }, null, 'größe'],
      [{}, null, null],
    ] as const;
    for (const [headers] of sent) assert.is((await ask(t, headers)).status, 200);
    assert.is((await ask(t, { ...REMOTE, 'x-svc-key': unnamed })).status, 200);
    const rows = await t.rows(sent.length + 1);
    assert.equal(
      rows.slice(0, -1).map(({ keyLabel, project }) => [keyLabel, project]),
      sent.map(([, label, project]) => [label, project]),
    );
    assert.match(rows.at(-1)?.keyLabel ?? '', /^[0-9a-f]{8}$/);
    for (const client of t.upstream.requests) assert.is(client.header('x-svc-project'), undefined);
  }));

test('the rows of refused requests and of WebSocket frames name their caller', () =>
  withProxy({}, async (t) => {
    const anna = keyOf(t, 'anna', 'shop');
    const headers = { ...REMOTE, 'x-svc-key': anna };
    assert.is((await ask(t, { ...headers, 'content-encoding': 'zip' })).status, 415);
    const client = await openTalk(t.proxy.wsPort, { ...headers, 'x-svc-project': 'api' });
    await client.answered(json(MESSAGE));
    client.socket.terminate();
    assert.equal(
      (await t.rows(2)).map(({ keyLabel, project }) => [keyLabel, project]),
      [
        ['anna', 'shop'],
        ['anna', 'api'],
      ],
    );
  }));

test('the project is the folder that the prompt of an agent names, and never its path', () =>
  withProxy({}, async (t) => {
    const prompt =
      'You are an agent.\n\n<env>\nWorking directory: /srv/anna/shop\nPlatform: linux\n</env>';
    const body = { ...MESSAGE, system: prompt };
    assert.is((await ask(t, {}, body)).status, 200);
    t.configure('attribution:\n  projects: off\n');
    await t.proxy.reload();
    assert.is((await ask(t, {}, body)).status, 200);
    assert.is((await ask(t, { 'x-svc-project': 'web' }, body)).status, 200);
    const rows = await t.rows(3);
    assert.equal(
      rows.map(({ project }) => project),
      ['shop', null, 'web'],
    );
    assert.not.match(JSON.stringify(rows), /\/srv/);
  }));

test('/stats, /recent and /metrics list keys and projects separately', () =>
  withProxy({}, async (t) => {
    const anna = keyOf(t, 'anna "a"', 'shop');
    for (let turn = 0; turn < 2; turn += 1) await ask(t, { 'x-svc-key': anna });
    await ask(t, {});
    await t.rows(3);
    const stats = JSON.parse(await get(t, '/stats')) as {
      readonly [by: string]: { readonly [name: string]: { readonly requests: number } };
    };
    assert.equal(Object.keys(stats['by_key'] ?? {}), ['anna "a"']);
    assert.is(stats['by_project']?.['shop']?.requests, 2);
    const { recent } = JSON.parse(await get(t, '/recent')) as { recent: Record<string, unknown>[] };
    assert.equal(
      recent.map(({ key, project }) => [key, project]),
      [
        [undefined, undefined],
        ['anna "a"', 'shop'],
        ['anna "a"', 'shop'],
      ],
    );
    const metrics = await get(t, '/metrics');
    assert.match(metrics, 'svc_key_requests_total{key="anna \\"a\\""} 2\n');
    assert.match(metrics, 'svc_project_requests_total{project="shop"} 2\n');
  }));

test('the audit log names the key and project of each request', () =>
  withProxy({ yaml: 'audit: { enabled: true }\n' }, async (t) => {
    const anna = keyOf(t, 'anna', 'shop');
    await ask(t, { 'x-svc-key': anna });
    await t.rows(1);
    await t.proxy.services.audit.flush();
    const files = auditFiles(dirname(t.db));
    const text = readFileSync(files.log, 'utf8');
    assert.match(text, /"key":"anna","project":"shop"/);
  }));

test('/metrics has a bounded number of projects, and their sum is complete', () =>
  withProxy({}, async (t) => {
    const count = 130;
    for (let n = 0; n < count; n += 1) await ask(t, { 'x-svc-project': `p${n}` });
    await t.rows(count);
    const lines = (await get(t, '/metrics')).match(/^svc_project_requests_total.*$/gm) ?? [];
    assert.ok(lines.length <= 101, `${lines.length} series`);
    const sum = lines.reduce((all, line) => all + Number(line.split(' ').at(-1)), 0);
    assert.is(sum, count);
    assert.ok(lines.some((line) => line.includes('"(other)"')));
  }));

test.after(closeClients);
test.run();
