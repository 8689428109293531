/** `svc list-pricing`: what models cost, the user's own prices first. */
import { Command, Option } from 'clipanion';
import { JsonCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import type { ListedPrice } from '../../stages/ledger/price-list.ts';
import type { PriceOverride } from '../../stages/ledger/prices.ts';
import { configOf } from '../parse/flags.ts';
import { figure } from '../screen/output.ts';
import { usd } from '../screen/prices.ts';

class ListPricing extends JsonCommand {
  static override paths = [['list-pricing']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'The price table that costs are computed from',
    details:
      'US dollars for a million tokens, for requests below any tier, as of today. `providers.<name>.pricing` takes precedence over the table.',
    examples: [
      ['All of it', '$0 list-pricing'],
      ['One vendor, for a script', '$0 list-pricing --vendor anthropic --json'],
    ],
  });

  config = Option.String('--config', { description: 'Config file' });
  vendor = Option.String('--vendor', { description: 'anthropic, openai, google, mistral, …' });

  async execute() {
    const { context, vendor } = this;
    const { createPrices } = await import('../../stages/ledger/prices.ts');
    const vendors = vendor === undefined ? undefined : [vendor];
    const own = (await this.ownPrices()).filter((line) => vendors?.includes(line.vendor) ?? true);
    const lines = [...own, ...createPrices().listPrices(context.clock.wallMs(), vendors)];
    if (lines.length === 0) throw new SvcError('not_found', `No prices are known for '${vendor}'`);
    if (this.json) return this.printJson({ prices: lines.map(priceJson) });
    const header = ['vendor', 'model', '>in', '>out', '>cache read', '>cache write', '>context'];
    const rows = lines.map((line) => [
      line.vendor,
      line.model,
      usd(line.inputUsdPer1m),
      usd(line.outputUsdPer1m),
      usd(line.cacheReadUsdPer1m),
      usd(line.cacheWriteUsdPer1m),
      figure(line.contextWindow),
    ]);
    this.printTable(header, rows);
  }

  /** `providers.<name>.pricing`, a line a provider. */
  private async ownPrices(): Promise<readonly ListedPrice[]> {
    const { context, config } = this;
    const loaded = await configOf(config, context);
    const { priceOverrides } = await import('../../server/generation/providers.ts');
    const known = [...priceOverrides(loaded.config, new Map())];
    return known
      .filter(([, price]) => Object.keys(price).length > 0)
      .map(([name, price]) => ownPrice(name, price));
  }
}

/** A provider's own prices, which are those of all its models. */
function ownPrice(provider: string, price: PriceOverride): ListedPrice {
  return {
    vendor: provider,
    model: '*',
    name: `every model of ${provider}`,
    contextWindow: null,
    inputUsdPer1m: price.input_cost_per_1m_tokens ?? null,
    outputUsdPer1m: price.output_cost_per_1m_tokens ?? null,
    cacheReadUsdPer1m: null,
    cacheWriteUsdPer1m: null,
  };
}

function priceJson(price: ListedPrice) {
  return {
    vendor: price.vendor,
    model: price.model,
    name: price.name,
    context_window: price.contextWindow,
    input_usd_per_1m: price.inputUsdPer1m,
    output_usd_per_1m: price.outputUsdPer1m,
    cache_read_usd_per_1m: price.cacheReadUsdPer1m,
    cache_write_usd_per_1m: price.cacheWriteUsdPer1m,
  };
}

export const commands = [ListPricing];
