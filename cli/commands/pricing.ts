/** `svc list-pricing`: model prices and their sources, the user's own first. */
import { Command, Option } from 'clipanion';
import { JsonCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import type { ListedPrice } from '../../stages/ledger/prices/price-list.ts';
import type { PriceOverride } from '../../stages/ledger/prices/prices.ts';
import { configInUse } from '../parse/config-in-use.ts';
import { figure } from '../screen/output.ts';
import { usd } from '../screen/prices.ts';

const DAY_MS = 86_400_000;

class ListPricing extends JsonCommand {
  static override paths = [['list-pricing']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'The price table that costs are computed from',
    details:
      'US dollars per million tokens, for requests below any tier, as of today or the day of `--at`. `from` is the source of a price: the price library, the overlay that comes with svc, your own `prices.json` in the home folder, or `providers.<name>.pricing`; later ones override earlier ones. `--json` shows every unit, tier and factor with its source.',
    examples: [
      ['All of it', '$0 list-pricing'],
      ['As of another day', '$0 list-pricing --vendor anthropic --at 2026-10-01'],
      ['One vendor, for a script', '$0 list-pricing --vendor anthropic --json'],
    ],
  });

  config = Option.String('--config', { description: 'Config file' });
  vendor = Option.String('--vendor', { description: 'anthropic, openai, google, mistral, …' });
  at = Option.String('--at', { description: 'A UTC day, as in 2026-11-26' });

  async execute() {
    const { context, vendor } = this;
    const atMs = this.moment(context.clock.wallMs());
    const { createPrices } = await import('../../stages/ledger/prices/prices.ts');
    const vendors = vendor === undefined ? undefined : [vendor];
    const { overrides, file } = await this.ownPrices();
    const own = overrides.filter((line) => vendors?.includes(line.vendor) ?? true);
    const lines = [...own, ...createPrices({ own: file }).listPrices(atMs, vendors)];
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
      line.card?.layer ?? '–',
    ]);
    this.printTable([...header, 'from'], rows, {
      expendable: [...(vendor === undefined ? [] : ['vendor']), 'context', 'cache write'],
    });
  }

  /** The end of the requested day, or now. */
  private moment(nowMs: number): number {
    if (this.at === undefined) return nowMs;
    const ms = /^\d{4}-\d{2}-\d{2}$/.test(this.at) ? Date.parse(this.at) : NaN;
    if (Number.isNaN(ms)) throw new SvcError('usage', `--at takes a day like 2026-11-26`);
    return ms + DAY_MS - 1;
  }

  /**
   * Returns `providers.<name>.pricing`, one line per provider, and the prices of the user's file.
   */
  private async ownPrices() {
    const { context, config } = this;
    const loaded = await configInUse(config, context);
    const { ownPrices, priceOverrides } = await import('../../server/generation/providers.ts');
    const overrides = [...priceOverrides(loaded.config, new Map())]
      .filter(([, price]) => Object.keys(price).length > 0)
      .map(([name, price]) => ownPrice(name, price));
    return { overrides, file: ownPrices(loaded.config) };
  }
}

/** Returns a provider's own price, which applies to all its models. */
function ownPrice(provider: string, price: PriceOverride): ListedPrice {
  const { rates = {}, terms = {} } = price;
  return {
    vendor: provider,
    model: '*',
    name: `every model of ${provider}`,
    contextWindow: null,
    inputUsdPer1m: price.input_cost_per_1m_tokens ?? null,
    outputUsdPer1m: price.output_cost_per_1m_tokens ?? null,
    cacheReadUsdPer1m: rates.cache_read?.base ?? null,
    cacheWriteUsdPer1m: rates.cache_write?.base ?? null,
    card: { rates, terms, perRequestUsd: 0, layer: 'config', source: 'providers.pricing' },
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
    from: price.card?.layer ?? null,
    source: price.card?.source ?? null,
    usd_per_million: price.card?.rates ?? {},
    terms: price.card?.terms ?? {},
  };
}

export const commands = [ListPricing];
