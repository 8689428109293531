/** The node name in ledger rows: from the setting, otherwise from `svc fleet init`. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { ProxyOptions } from '../../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';

/** Returns the names in the rows of a served request and of a rejected one. */
async function namesWith(options: ProxyOptions, fleet?: string): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-node-'));
  const home = join(folder, 'home');
  mkdirSync(home, { mode: 0o700 });
  if (fleet !== undefined) writeFileSync(join(home, 'fleet.yaml'), fleet, { mode: 0o600 });
  let names: unknown;
  try {
    await withProxy({ ...options, env: { ...options.env, SVC_HOME: home } }, async (t) => {
      await exchange(t.proxy.port, { body: json(MESSAGE) });
      await exchange(t.proxy.port, { body: '{"model": ' });
      names = (await t.rows(2)).map(({ node, status }) => [status, node]);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return names;
}

const both = (node: string | null) => [
  [200, node],
  [400, node],
];

test('a proxy without a configured name', async () => {
  assert.equal(await namesWith({}), both(null));
});

test('SVC_NODE and fleet.node set the name', async () => {
  assert.equal(await namesWith({ env: { SVC_NODE: 'desk-1.lan' } }), both('desk-1.lan'));
  assert.equal(await namesWith({ yaml: 'fleet: { node: desk }' }), both('desk'));
});

test('fleet.yaml sets the name, unless the setting does', async () => {
  const fleet = 'node: attic\nmembers: []\n';
  assert.equal(await namesWith({}, fleet), both('attic'));
  assert.equal(await namesWith({ env: { SVC_NODE: 'desk' } }, fleet), both('desk'));
});

test('a faulty fleet.yaml loses the name and nothing else', async () => {
  for (const fleet of ['node: [', 'node: "a b"', 'members: 3', 'nodes: x'])
    assert.equal(await namesWith({}, fleet), both(null), fleet);
});

for (const name of ['a b', '-desk', 'x'.repeat(65), 'a/b', '\u001b[31m'])
  test(`${JSON.stringify(name)} is refused`, async () => {
    const refused = await namesWith({ env: { SVC_NODE: name } }).catch(
      ({ message }: Error) => message,
    );
    assert.match(String(refused), /fleet\.node|SVC_NODE/);
  });

test.after(closeClients);
test.run();
