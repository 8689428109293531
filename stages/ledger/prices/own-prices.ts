/**
 * The user's own prices: `$SVC_HOME/prices.json`, a list of models with a rate for each unit, and
 * `providers.<name>.pricing`. Rates are dollars per million tokens, and per thousand searches.
 */
import { SvcError } from '../../../engine/index.ts';
import { isObject } from '../../dialect/json-kind.ts';
import type { JsonObject } from '../../dialect/json-kind.ts';
import { CALL_UNITS } from '../../model/billed-units.ts';
import type { UnitName } from '../../model/billed-units.ts';
import { plainName } from './price-overlay.ts';
import type { OverlayPrice } from './price-overlay.ts';
import type { Rate, Rates, TermFactors } from './rate-card.ts';

/** The file in the home folder. */
export const OWN_PRICES = 'prices.json';
/** Larger than any list of models. */
export const MAX_OWN_BYTES = 1024 * 1024;

/** Every unit that may have a rate. */
export const UNITS = [
  'input',
  'output',
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'cache_write_12h',
  'input_audio',
  'input_image',
  'input_video',
  'cache_read_audio',
  'cache_read_image',
  'output_audio',
  'output_image',
  'web_search',
  'file_search',
] as const satisfies readonly UnitName[];

const MEMBERS = new Set<string>([
  ...UNITS,
  'model',
  'vendor',
  'since',
  'source',
  'terms',
  'long_context',
]);
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Makes rates from dollars by unit, and from those above `long.above` input tokens. */
export function toRates(
  usd: Readonly<Record<string, number>>,
  long: Readonly<Record<string, number>> = {},
): Rates {
  const rates: { [U in UnitName]?: Rate } = {};
  for (const unit of UNITS) {
    const [base, above] = [usd[unit], long[unit]];
    if (base === undefined) continue;
    const perMillion = CALL_UNITS.has(unit) ? 1000 : 1;
    const tier = above !== undefined && { start: long['above'] ?? 0, price: above * perMillion };
    rates[unit] = { base: base * perMillion, tiers: tier === false ? [] : [tier] };
  }
  return rates;
}

/** Returns the fault of a map of dollars by unit, in words; undefined for none. */
export function faultOfRates(usd: JsonObject, others: readonly string[] = []): string | undefined {
  for (const [name, value] of Object.entries(usd)) {
    if (!others.includes(name) && !(UNITS as readonly string[]).includes(name))
      return `'${name}' is not a known unit; known are ${[...UNITS, ...others].join(', ')}`;
    if (!isAmount(value)) return `'${name}' must be a number of at least 0`;
  }
  return undefined;
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

/**
 * Reads the text of the user's file. Throws `config` CONFIG_001, which names the entry, for an
 * invalid price.
 */
export function readOwnPrices(text: string, file: string): OverlayPrice[] {
  const refuse = (what: string): never => {
    throw new SvcError('config', `${file}: ${what}`, { code: 'CONFIG_001' });
  };
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (cause) {
    return refuse(`not valid JSON (${(cause as Error).message})`);
  }
  if (!Array.isArray(list)) return refuse('not a list of prices');
  return (list as readonly unknown[]).map((entry, at) => {
    const which = `entry ${at + 1}`;
    if (!isObject(entry)) return refuse(`${which} is not an object`);
    const { model, vendor = '*', since = '1970-01-01', source = file, terms = {} } = entry;
    const unknown = Object.keys(entry).find((name) => !MEMBERS.has(name));
    if (unknown !== undefined) refuse(`${which}: '${unknown}' is not known`);
    if (typeof model !== 'string' || model === '') return refuse(`${which} names no model`);
    if (typeof since !== 'string' || !DAY.test(since) || Number.isNaN(Date.parse(since)))
      return refuse(`${which}: since must be a date such as 2026-11-26`);
    if (typeof vendor !== 'string' || typeof source !== 'string')
      return refuse(`${which}: vendor and source must be strings`);
    const usd = Object.fromEntries(
      UNITS.filter((unit) => entry[unit] !== undefined).map((unit) => [unit, entry[unit]]),
    );
    const long = entry['long_context'] ?? {};
    if (!isObject(long) || !isObject(terms))
      return refuse(`${which}: long_context and terms must be objects`);
    const fault = faultOfRates(usd) ?? faultOfRates(long, ['above']) ?? faultOfTerms(terms);
    if (fault !== undefined) refuse(`${which}: ${fault}`);
    if (usd['input'] === undefined || usd['output'] === undefined)
      return refuse(`${which} needs both an input and an output price`);
    const name = plainName(model).replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
    return {
      vendor,
      // That model and its dated snapshots: a larger or smaller variant has another price.
      model: new RegExp(`^${name}$`),
      since,
      rates: toRates(usd as Record<string, number>, long as Record<string, number>),
      terms: terms as TermFactors,
      source,
      name: model,
    };
  });
}

/** Returns the fault of a map of factors by term; undefined for none. */
export function faultOfTerms(terms: JsonObject): string | undefined {
  const [name] = Object.entries(terms).find(([, value]) => !isAmount(value)) ?? [];
  return name === undefined ? undefined : `the factor of '${name}' must be a number of at least 0`;
}
