/**
 * `npm run bench:quality -- --sessions DIR`: measures what compression saves on real sessions, by
 * agent and session length, in each mode. Input tokens, including system prompt and tools, and
 * cache reads after the real pauses are the provider's own usage from the files.
 */
import Table from 'cli-table3';
import { systemClock } from '../../engine/clock.ts';
import { estimateSessions } from '../../server/estimate/estimate.ts';
import type { EstimateSettings } from '../../server/estimate/conversation.ts';
import type { EstimateReport } from '../../server/estimate/estimate.ts';
import type { SessionGroup } from '../../server/estimate/sums.ts';
import type { Mode } from '../../stages/compress/rules/rule.ts';
import { toPauseMs } from '../../stages/compress/settings.ts';
import { measurePrefixes } from './session-prefix.ts';
import type { PrefixTurns } from './session-prefix.ts';
import { createPrices } from '../../stages/ledger/prices/prices.ts';

/** A setting tried in addition to the defaults. */
export interface Variant {
  readonly name: string;
  readonly coldTrimMs: number | null;
  readonly longResultsTokens: number;
}

/** The default configuration. */
const DEFAULTS: Variant = { name: 'defaults', coldTrimMs: null, longResultsTokens: 10_000 };

/**
 * Returns the defaults, then the variants of `--cold-trim` and `--long-results`, each alone and
 * both together.
 */
export function variantsOf(
  coldTrim: string | undefined,
  longResults: string | undefined,
): readonly Variant[] {
  const variants = [DEFAULTS];
  const coldTrimMs = coldTrim === undefined ? null : toPauseMs(coldTrim);
  const cold = { ...DEFAULTS, name: `cold_trim ${coldTrim}`, coldTrimMs };
  const longResultsTokens = Number(longResults);
  const long = { ...DEFAULTS, name: `long results ${longResults}`, longResultsTokens };
  if (coldTrimMs !== null) variants.push(cold);
  if (longResults !== undefined) variants.push(long);
  if (variants.length === 3)
    variants.push({ ...cold, longResultsTokens, name: `${cold.name}, ${long.name}` });
  return variants;
}

/** Result of one mode. */
export interface SessionsResult {
  readonly mode: Mode;
  readonly variant: Variant;
  readonly report: EstimateReport;
  /** Turn-by-turn results, if requested. */
  readonly prefix: PrefixTurns | undefined;
}

const HOUR_MS = 3_600_000;

/** Reads `folder` once per mode and variant. */
export async function measureSessions(
  folder: string,
  modes: readonly Mode[],
  variants: readonly Variant[],
  settings: Omit<EstimateSettings, 'mode'>,
  withPrefix: boolean,
): Promise<readonly SessionsResult[]> {
  const results: SessionsResult[] = [];
  for (const mode of modes)
    for (const variant of variants) {
      const { coldTrimMs, longResultsTokens } = variant;
      const options = { ...settings, mode, coldTrimMs, longResultsTokens };
      const report = await estimateSessions({
        folders: [folder],
        options,
        prices: createPrices(),
        clock: systemClock,
        maxTimeMs: HOUR_MS,
      });
      const prefix = withPrefix ? await measurePrefixes(folder, options) : undefined;
      results.push({ mode, variant, report, prefix });
    }
  return results;
}

/** Returns one row per mode, variant, agent and length. */
export function printSessions(results: readonly SessionsResult[]): string {
  const head = [
    'mode',
    'settings',
    'agent',
    'requests each',
    'sessions',
    'requests',
    'counted',
    'tokens saved',
    'priced sessions',
    'input cost, median',
    'best',
    'worst',
    'cold moments',
    'left out (asked again)',
  ];
  const table = new Table({ head, style: { head: [], border: [], compact: true } });
  for (const { mode, variant, report } of results)
    table.push(...report.groups.map((group) => [mode, variant.name, ...cells(group)]));
  const prefixes = results.flatMap(({ mode, variant, prefix }) =>
    prefix === undefined
      ? []
      : [
          `${mode}, ${variant.name}: ${prefix.unstable} of ${prefix.turns} turns changed an earlier block outside of the ${prefix.cold} cold ones.`,
        ],
  );
  const notes = results
    .slice(0, 1)
    .flatMap(({ report }) => [
      `${report.files} files, ${report.conversations} conversations, ${report.whole} of them with system prompt and tools in the file; all input tokens are the provider's count, which has both. 1 = the input cost without svc.`,
      ...report.failed.map(({ path, reason }) => `not read: ${path}: ${reason}`),
    ]);
  return [table.toString(), ...prefixes, ...notes].join('\n');
}

function cells({ client, length, share, ...group }: SessionGroup): (string | number)[] {
  const cost = (saved: number | undefined): string =>
    saved === undefined ? '–' : (1 - saved).toFixed(3);
  const { inputTokens, savedTokens } = group;
  return [
    client,
    length === null ? 'any' : `${length.from}${length.to === null ? '+' : `–${length.to}`}`,
    group.sessions,
    group.requests,
    group.requests - group.uncounted,
    inputTokens === 0 ? '–' : `${((100 * savedTokens) / inputTokens).toFixed(1)}%`,
    share?.sessions ?? 0,
    cost(share?.median),
    cost(share?.highest),
    cost(share?.lowest),
    group.coldMoments,
    `${group.forgotten} (${group.askedAgain})`,
  ];
}
