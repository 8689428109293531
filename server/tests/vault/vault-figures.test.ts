/**
 * Tokens added from the vault are a separate figure, with their cost, wherever savings are shown.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import { ABSENT, DIALECTS, forwardedBody, withVault } from '../../../fixtures/server/vault.ts';

const [MESSAGES] = DIALECTS;
const PRICED =
  'providers:\n  messages:\n    pricing: { input_cost_per_1m_tokens: 1000, output_cost_per_1m_tokens: 1000 }\n';

type Json = Readonly<Record<string, unknown>>;

async function read(t: TestProxy, path: string): Promise<Json> {
  const { text } = await exchange(t.proxy.port, { path, method: 'GET' });
  return JSON.parse(text) as Json;
}

test('raw tokens are those of the client, and added text has its own figure and price', async () => {
  await withVault(
    async (t) => {
      const ask = (text: string) =>
        forwardedBody(t, MESSAGES.path, MESSAGES.body([MESSAGES.user(text)]));
      await ask(ABSENT);
      await ask('When does the flumbrick gate open?');
      const [plain, row] = await t.rows(2);
      assert.is(plain?.addedTokens, null);
      assert.is(plain?.inputTokensRaw, plain?.inputTokensSent);
      const added = row!.addedTokens!;
      assert.ok(added > 0);
      assert.is(row!.inputTokensRaw! + added, row!.inputTokensSent);
      assert.ok(row!.costAddedNanoUsd! > 0);
      assert.ok(row!.costAddedNanoUsd! < row!.costNanoUsd!);

      const cost = row!.costAddedNanoUsd! / 1e9;
      const saved = row!.savedTokens ?? 0;
      const costSaved = (row!.costSavedNanoUsd ?? 0) / 1e9;
      const net = {
        tokens_added: added,
        cost_added: cost,
        net_tokens_saved: saved - added,
        net_cost_saved: costSaved - cost,
      };
      const has = (where: string, json: Json, figures: Json = net) => {
        for (const [name, figure] of Object.entries(figures)) {
          assert.is(json[name], figure, `${where} ${name}`);
        }
      };
      const stats = (await read(t, '/stats')) as Record<string, Json>;
      has('/stats session', stats['session']!);
      has('/stats today', stats['today']!);
      const [model] = Object.values(stats['by_model']!);
      has('/stats by_model', model as Json);
      has('/stats/last', await read(t, '/stats/last'));
      has('/stats/session', await read(t, '/stats/session'));
      has('/savings', await read(t, '/savings'), {
        total_tokens_added: added,
        total_cost_added_usd: cost,
        total_net_tokens_saved: saved - added,
        total_net_cost_saved_usd: costSaved - cost,
      });
      const [recent] = (await read(t, '/recent'))['recent'] as Json[];
      assert.is(recent?.['input_tokens'], row!.inputTokensRaw);
      assert.is(recent?.['net_tokens_saved'], saved - added);
      const reported = recent?.['vault_injection'] as Json;
      assert.equal([reported['tokens_added'], reported['cost_added']], [added, cost]);
      const trace = await read(t, `/trace/${row!.id}`);
      has('/trace', trace['savings'] as Json);
    },
    { yaml: PRICED },
  );
});

test.after(closeClients);
test.run();
