/** What went through the proxy while a client ran: read from the ledger by time. */
import type { Totals } from '../../stages/ledger/figures.ts';
import type { TimeSpan } from '../../stages/ledger/queries.ts';
import { readFleet } from '../../server/fleet/fleet-file.ts';
import { isPostgresUrl } from '../../stages/ledger/address.ts';
import type { LedgerReader } from '../../stages/ledger/tables.ts';
import type { CliContext } from '../context.ts';
import { homeOf } from '../context.ts';
import { withLedger } from '../ledger.ts';
import type { LedgerQueries } from '../ledger.ts';
import { configInUse } from '../parse/config-in-use.ts';
import { colorsFor, counted, dollars, figure, note, pairs, percent } from '../screen/output.ts';
import { control } from '../remote.ts';

/** Longest wait for requests still running when the client has ended. */
const SETTLE_MS = 2000;
const POLL_MS = 25;
/** The ledger is written in batches: settled requests are in the file after this time. */
const WRITE_MS = 150;

/** Sums of a period, and the clients of its requests. */
export interface Receipt {
  readonly totals: Totals;
  readonly clients: readonly { readonly name: string; readonly requests: number }[];
  readonly costUsd: number | null;
  /** Cost of the same requests without svc. */
  readonly costWithoutUsd: number | null;
}

/** Waits until no request runs any more, then sums the period. */
export async function receiptOf(
  context: CliContext,
  configFile: string | undefined,
  span: TimeSpan,
): Promise<Receipt> {
  await settle(context);
  const { knownCost, knownCostAdded, knownCostSaved, netSaving } =
    await import('../../stages/ledger/figures.ts');
  const sumsOf = await sumsOfThisMachine(context, configFile, span);
  return withLedger(context, configFile, async (reader, queries) => {
    const { totals, byClient } = await sumsOf(reader, queries);
    const cost = knownCost(totals);
    const saving = netSaving(knownCostSaved(totals), knownCostAdded(totals));
    return {
      totals,
      clients: byClient.map(({ key, requests }) => ({ name: key ?? 'unknown', requests })),
      costUsd: cost === null ? null : cost / 1e9,
      costWithoutUsd: cost === null || saving === null ? null : (cost + saving) / 1e9,
    };
  });
}

/** Sums a period: all rows, or this machine's if several share the ledger. */
async function sumsOfThisMachine(
  context: CliContext,
  configFile: string | undefined,
  span: TimeSpan,
) {
  const [{ config }, fleet, { addTotals }] = await Promise.all([
    configInUse(configFile, context),
    readFleet(homeOf(context)),
    import('../../stages/ledger/figures.ts'),
  ]);
  const isShared = isPostgresUrl(config.ledger.db);
  const own = config.fleet.node ?? fleet?.node ?? null;
  return async (reader: LedgerReader, queries: LedgerQueries) => {
    if (!isShared)
      return {
        totals: await queries.totalsOf(reader, span),
        byClient: await queries.totalsBy(reader, 'client', span),
      };
    const groups = await queries.totalsByAll(reader, ['client', 'node'], span);
    const byClient = groups
      .filter(({ node = null }) => node === own)
      .map(({ client: key = null, ...totals }) => ({ key, ...totals }))
      .toSorted((a, b) => b.requests - a.requests);
    return { totals: addTotals(byClient), byClient };
  };
}

/** Prints a receipt on stderr: stdout is the client's. */
export function printReceipt(context: CliContext, receipt: Receipt): void {
  const { totals, clients } = receipt;
  const colors = colorsFor(context.stderr, context.env);
  if (totals.requests === 0) {
    note(context, 'svc: no request went through the proxy.');
    return;
  }
  const failed = totals.errors === 0 ? '' : `, ${counted(totals.errors, 'error')}`;
  const rows: (readonly [string, string])[] = [
    ['Requests', `${figure(totals.requests)}${failed}`],
    [
      'Input tokens',
      `${figure(totals.inputTokens)} from the client, ${figure(totals.sentInputTokens)} sent`,
    ],
    ['Saved', savedText(totals)],
    ['Output tokens', figure(totals.outputTokens)],
    ['Cost', costText(receipt)],
  ];
  if (totals.addedTokens > 0)
    rows.splice(3, 0, ['Added', `${figure(totals.addedTokens)} tokens of your files`]);
  note(context, '');
  note(context, colors.bold('svc receipt'));
  for (const line of pairs(colors, rows)) note(context, line);
  if (clients.length > 1) {
    const who = clients.map(({ name, requests }) => `${name} ${figure(requests)}`).join(', ');
    note(context, `Counted by time, so it includes other clients: ${who}.`);
  }
}

/** A receipt as JSON. */
export function receiptJson({ totals, clients, costUsd, costWithoutUsd }: Receipt) {
  return {
    requests: totals.requests,
    errors: totals.errors,
    input_tokens_raw: totals.inputTokens,
    input_tokens_sent: totals.sentInputTokens,
    tokens_saved: totals.savedTokens,
    tokens_added: totals.addedTokens,
    output_tokens: totals.outputTokens,
    cost: costUsd,
    cost_without_svc: costWithoutUsd,
    unpriced: totals.unpriced,
    clients,
  };
}

function savedText({ savedTokens, inputTokens }: Totals): string {
  const share = inputTokens === 0 ? '' : ` (${percent(savedTokens / inputTokens)} of the input)`;
  return `${counted(savedTokens, 'token')}${share}`;
}

function costText({ totals, costUsd, costWithoutUsd }: Receipt): string {
  if (costUsd === null) return 'unknown: no price is known for these models';
  const without = costWithoutUsd === null ? '' : `; ${dollars(costWithoutUsd)} without svc`;
  const missing =
    totals.unpriced === 0
      ? ''
      : `, and ${counted(totals.unpriced, 'request')} without a known price`;
  return `${dollars(costUsd)}${without}${missing}`;
}

async function settle(context: CliContext): Promise<void> {
  const { clock } = context;
  const home = homeOf(context);
  const endMs = clock.monotonicMs() + SETTLE_MS;
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  while (clock.monotonicMs() < endMs) {
    const status = await control(home, 'status').catch(() => undefined);
    if (status === undefined || status['running'] === 0) break;
    await pause(POLL_MS);
  }
  await pause(WRITE_MS);
}
