/**
 * Measures every run and writes exactly one row for it: usage as the provider reports it, read from
 * a copy of the answer's bytes, and its cost.
 */
import { defineStage } from '../../engine/index.ts';
import type { RunInfo, Settlement } from '../../engine/index.ts';
import { releaseReservation } from '../budget/release-reservation.ts';
import { spenderOf } from '../budget/spender.ts';
import { mayCost } from '../budget/unparsed-estimate.ts';
import { isUnpriced, ledgerRow } from '../ledger/row.ts';
import type { LedgerRow } from '../ledger/row.ts';
import type { CacheMiss } from '../model/cached-turn.ts';
import type { ProxyFrame } from '../model/frame.ts';
import { modelOf } from '../model/request.ts';
import { emptyUsage, totalInputTokens } from '../model/usage.ts';
import type { OwnWork, Usage } from '../model/usage.ts';
import { createRequestSize } from '../learned/request-size.ts';
import { createToolSets } from '../learned/tool-sets.ts';
import type { RequestSize } from '../learned/request-size.ts';
import type { Services } from '../services.ts';
import { createClientFamily } from './client.ts';
import { explainMiss } from './cache-miss.ts';
import { unansweredUse } from './unanswered-usage.ts';
import type { Unanswered } from './unanswered-usage.ts';
import { createMeasured, observe, start, isError, usageOf, plausibleUsage } from './answer.ts';
import type { Measured } from './answer.ts';
import { toRow, droppedIn, savingsOf } from './row.ts';
import type { Metering, Explain } from './row.ts';

/**
 * Settles the request's reservation: with the cost in its row, or without one if there was no
 * answer. Costs without a reservation count as well, so that after a restart the ledger gives the
 * same spending. Returns nano-dollars counted in addition to the row's cost.
 */
function settleSpending(
  { last }: Settlement<ProxyFrame>,
  row: LedgerRow,
  { spending: guard, deferredBills }: Pick<Services, 'spending' | 'deferredBills'>,
  { unanswered, work }: Pick<Measurement, 'unanswered' | 'work'>,
  knownNanoUsd = 0,
): number {
  const { head } = last;
  const request = head?.request ?? last.request?.request;
  const report = request?.report;
  if (request === undefined || report === undefined || report.cacheHit === true) return 0;
  if (isUnpriced(row)) guard.noteUnpriced();
  let additionalNanoUsd = 0;
  // Another provider has answered: the input given to the first one counts in addition.
  if (head !== undefined && unanswered !== undefined) {
    additionalNanoUsd += unanswered.costNanoUsd ?? 0;
    guard.count(
      unanswered.costNanoUsd ?? 0,
      unanswered.inputTokens + unanswered.outputTokens,
      spenderOf(head.request.original),
    );
  }
  const { costNanoUsd, inputTokensSent, outputTokens } = row;
  const spending = report.spending;
  const tokens = (inputTokensSent ?? 0) + (outputTokens ?? 0);
  const isMeasured = inputTokensSent !== null || outputTokens !== null;
  if (isMeasured && costNanoUsd === null) additionalNanoUsd += knownNanoUsd;
  if (isMeasured && work !== undefined)
    additionalNanoUsd -= releaseReservation(
      deferredBills.bill(work),
      guard,
      row.startedMs,
      spenderOf(request.original),
    );
  if (spending === undefined)
    guard.count(costNanoUsd ?? knownNanoUsd, tokens, spenderOf(request.original));
  else if (isMeasured) spending.settle(costNanoUsd, tokens, knownNanoUsd);
  else if (head === undefined || isError(head)) spending.release();
  else {
    const { estimateNanoUsd, estimateTokens = 0 } = spending.settleUnmeasured();
    const { key, project } = spenderOf(request.original);
    const owner = { key: key?.label, project };
    const held = { nanoUsd: estimateNanoUsd ?? 0, tokens: estimateTokens, ...owner };
    if (work !== undefined) deferredBills.begin(work, { ...held, atMs: row.startedMs });
    additionalNanoUsd += held.nanoUsd;
  }
  return additionalNanoUsd;
}

/** Learns the ratio between the provider's count of a request and our estimate. */
function learn(
  { last }: Settlement<ProxyFrame>,
  usage: Usage,
  state: Measured,
  { learned, withoutKeys }: Services,
  sizeOf: RequestSize,
): void {
  const named = state.observer?.model();
  const requestedModel = last.head && modelOf(last.head.request);
  const isOther = named !== undefined && named !== requestedModel;
  const model = isOther ? withoutKeys(named, last.body) : requestedModel;
  const input = totalInputTokens(usage);
  if (last.head === undefined || model === undefined || input === null || usage.estimated) return;
  // The figures of deferred work are not about this request.
  if (usage.work !== undefined && !mayCost(last.head.request.original.body)) return;
  // Our own answers have no provider figures.
  if (last.head.attempts.length === 0) return;
  const { request } = last.head;
  learned.learnTokens(model, input, () => sizeOf(request));
}

/** What was determined about a run at its end. */
interface Measurement {
  readonly row: LedgerRow;
  readonly usageCorrected?: true | undefined;
  readonly unanswered?: Unanswered | undefined;
  readonly dropped?: Usage['droppedThoughts'];
  readonly work?: OwnWork | undefined;
  readonly miss?: CacheMiss | undefined;
  /** The parts without a price, and the price of the rest; undefined if everything has one. */
  readonly missingPrices?: MissingPrices | undefined;
}

type MissingPrices = ReturnType<Services['prices']['missingPrices']>;

/** Returns what leaves a row without a cost. */
function missingPricesIn(
  settlement: Settlement<ProxyFrame>,
  row: LedgerRow,
  reported: Usage,
  state: Measured,
  { services, sizeOf }: Metering,
): MissingPrices | undefined {
  const { provider: name, model, startedMs, cacheHit } = row;
  if (!isUnpriced(row) || cacheHit) return undefined;
  const provider = services.providers.get(name ?? '');
  if (provider === undefined) return undefined;
  const usage = usageOf(settlement, reported, state, services, sizeOf);
  if (model === null)
    return { missing: usage.billing?.unknownUses ?? ['a model without a name'], knownNanoUsd: 0 };
  return services.prices.missingPrices(provider, model, usage, startedMs);
}

/** Formats `2 thoughts dropped: prefix, model`; undefined for none. */
function describeDropped(dropped: Usage['droppedThoughts']): string | undefined {
  const count = droppedIn(dropped);
  if (dropped === undefined || count === null) return undefined;
  return `${count} ${count === 1 ? 'thought' : 'thoughts'} dropped: ${Object.keys(dropped).join(', ')}`;
}

/**
 * Returns the row, after learning from the answer, and whether the provider's figures had to be
 * corrected.
 */
function measuredRow(
  settlement: Settlement<ProxyFrame>,
  state: Measured,
  run: RunInfo,
  metering: Metering,
): Measurement {
  if (settlement.outcome === 'ok') state.observer?.ended?.();
  const { services, sizeOf } = metering;
  const reported = plausibleUsage(settlement, state, run, services);
  learn(settlement, reported, state, services, sizeOf);
  const unanswered = unansweredUse(settlement, run.startedWallMs, services, sizeOf);
  let miss: CacheMiss | undefined;
  const explain: Explain = (usage, provider, model) => {
    try {
      miss = explainMiss(settlement, run, usage, { provider, model }, services);
    } catch (cause) {
      // A request's figures must not depend on the explanation.
      services.log.error('it could not be told why a prompt cache was missed', {
        request: run.id,
        cause,
      });
    }
    return miss;
  };
  const row = toRow(settlement, reported, state, run, metering, unanswered, explain);
  const { corrected: usageCorrected, droppedThoughts: dropped, work } = reported;
  const missingPrices = missingPricesIn(settlement, row, reported, state, metering);
  return { row, usageCorrected, unanswered, dropped, miss, missingPrices, work };
}

/** Maximum number of texts remembered; clients can invent model names. */
const MAX_WARNED = 200;

/** Logs each item without a price once; the trace of every request has it too. */
function createUnpricedWarner({ log }: Services) {
  const warned = new Set<string>();
  return (missing: readonly string[]): void => {
    for (const what of missing) {
      if (warned.has(what) || warned.size >= MAX_WARNED) continue;
      warned.add(what);
      log.warning('requests are without a cost: something has no price', { what });
    }
  };
}

/** Watches the answer; writes its row when the run has settled. */
export const meter = defineStage<ProxyFrame, undefined, Services>({
  name: 'meter',
  build(_config, services) {
    const toolSets = createToolSets();
    const sizeOf = createRequestSize(toolSets);
    const warn = createUnpricedWarner(services);
    const metering: Metering = { services, sizeOf, toolSets, familyOf: createClientFamily() };
    return {
      open: createMeasured,
      watch: {
        head(head, ctx) {
          start(ctx.state, head);
        },
        chunk(chunk, ctx) {
          const state: Measured = ctx.state;
          state.firstByteMs ??= services.clock.monotonicMs() - ctx.run.startedMs;
          observe(state, chunk.metered ?? chunk.bytes);
        },
      },
      settled(settlement, ctx) {
        const state: Measured = ctx.state ?? createMeasured();
        const record = () => {
          let measured: Measurement;
          let fault: { readonly thrown: unknown } | undefined;
          try {
            measured = measuredRow(settlement, state, ctx.run, metering);
          } catch (thrown) {
            // The request gets its row even if reading the answer's figures fails.
            measured = { row: toRow(settlement, emptyUsage, createMeasured(), ctx.run, metering) };
            fault = { thrown };
          }
          const { row, usageCorrected, dropped, miss, missingPrices } = measured;
          const unpriced = missingPrices?.missing;
          if (unpriced !== undefined) warn(unpriced);
          const droppedThoughts = describeDropped(dropped);
          if (dropped !== undefined) {
            services.conversations.noteDropped(dropped);
            services.log.warning('a provider has not shown thoughts to the model', {
              request: ctx.run.id,
              what: droppedThoughts,
            });
          }
          const budgetNanoUsd =
            settleSpending(settlement, row, services, measured, missingPrices?.knownNanoUsd) ||
            null;
          // The trace was added with only what the engine knows.
          const savings = savingsOf(row);
          const { outcome } = row;
          const isNews = outcome !== settlement.outcome || savings !== undefined;
          const others = droppedThoughts ?? miss ?? unpriced;
          if (isNews || usageCorrected || others !== undefined) {
            const cacheMiss = miss && { ...miss, costNanoUsd: row.costCacheMissedNanoUsd };
            services.traces.correct(ctx.run.id, {
              outcome,
              savings,
              usageCorrected,
              droppedThoughts,
              cacheMiss,
              unpriced,
            });
          }
          services.ledger.record(
            budgetNanoUsd === null ? row : ledgerRow({ ...row, budgetNanoUsd }),
          );
          if (fault !== undefined) throw fault.thrown;
        };
        // A copy that is still being decoded has its usage at its very end.
        const later = () => services.deferredWork.later(record);
        return state.decoder === undefined ? later() : state.decoder.end().then(later);
      },
    };
  },
});
