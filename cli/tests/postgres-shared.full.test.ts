/** A ledger in Postgres from outside, shared by several machines. */
import * as assert from 'uvu/assert';
import { until } from '../../fixtures/cli/live.ts';
import type { Json } from '../../fixtures/cli/live.ts';
import { ask, get, postgresSuite, withMachines } from '../../fixtures/cli/postgres-machines.ts';
import { stored } from '../../fixtures/ledger/temp-ledger.ts';

const shared = postgresSuite('machines that share a ledger in Postgres');

shared(
  'two machines that write at the same time get exact sums, by machine, without duplicates',
  async (t) => {
    const db = await t.server.create('fleet');
    await withMachines(t, { desk: db, attic: db }, async (desk, attic) => {
      const [one, two] = [await desk.serve(), await attic.serve()];
      const sent = await Promise.all([ask(one, 90), ask(two, 60)]);
      const tokens = sent.map((some) =>
        some.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
      );
      assert.is((await desk.svc('fleet', 'add', 'attic', two)).code, 0);
      const ran = await desk.svc('aggregate', '--json');
      assert.is(ran.code, 0, ran.stderr);
      const json = JSON.parse(ran.stdout) as Record<string, readonly Json[]> & { totals: Json };
      assert.equal(
        [json.totals['requests'], json.totals['output_tokens']],
        [150, tokens[0]! + tokens[1]!],
      );
      const nodes = json['by_node']!.map(({ node, requests, output_tokens: output }) => [
        node,
        { requests, output },
      ]);
      assert.equal(Object.fromEntries(nodes), {
        attic: { requests: 60, output: tokens[1] },
        desk: { requests: 90, output: tokens[0] },
      });
      assert.equal(json['repeated'], [{ source: 'attic', of: 'desk', requests: null }]);
      assert.is((await desk.svc('fleet', 'init', '--node', 'desk')).code, 0);
      const status = JSON.parse((await desk.svc('fleet', 'status', '--json')).stdout) as {
        readonly machines: readonly { readonly node: string; readonly today: Json }[];
      };
      const requests = status.machines.map(({ node, today }) => [node, today['requests']]);
      assert.equal(Object.fromEntries(requests), { attic: 60, desk: 90 });
      await Promise.all([desk.stop(), attic.stop()]);
      const alone = await attic.svc('aggregate', '--json');
      assert.is((JSON.parse(alone.stdout) as { totals: Json }).totals['requests'], 150);
      const shown = await attic.svc('attribution', '--by', 'node');
      assert.match(shown.stdout, /desk[\s\S]*attic|attic[\s\S]*desk/);
      // Limits apply per machine, and so does earlier spending.
      const again = await desk.serve();
      const own = (await stored(db)).filter(({ node }) => node === 'desk');
      const spent = own.reduce((sum, { costNanoUsd }) => sum + (costNanoUsd ?? 0), 0);
      assert.ok(spent > 0);
      const known = async () => ((await get(again, '/health'))['budget'] as Json)['spent_usd'];
      await until(async () => (await known()) !== 0, 'what was spent before');
      assert.is(await known(), spent / 1e9);
    });
  },
);

shared.run();
