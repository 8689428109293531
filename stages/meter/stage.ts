/**
 * Measures every run and writes exactly one row for it: usage as the provider
 * reports it, read from a copy of the answer's bytes, and what that costs.
 */
import { defineStage } from '../../engine/index.ts';
import type { Settlement } from '../../engine/index.ts';
import type { UsageObserver } from '../dialect/dialect.ts';
import { ledgerRow } from '../ledger/row.ts';
import type { LedgerFacts, LedgerRow } from '../ledger/row.ts';
import type { HeadFrame, ProxyFrame } from '../model/frame.ts';
import { headerValue } from '../model/headers.ts';
import { modelOf } from '../model/request.ts';
import { emptyUsage, totalInputTokens } from '../model/usage.ts';
import type { Services } from '../services.ts';
import { createDecoder } from '../wire/decode.ts';
import type { Decoder } from '../wire/decode.ts';
import { clientFamily, sessionOf } from './client.ts';

interface Measured {
  observer: UsageObserver | undefined;
  decoder: Decoder | undefined;
  firstByteMs: number | undefined;
}

function observe(state: Measured, bytes: Buffer): void {
  if (state.decoder === undefined) state.observer?.push(bytes);
  else state.decoder.push(bytes);
}

function start(state: Measured, head: HeadFrame): void {
  const observer = head.request.original.dialect.observeUsage(head.streaming);
  state.observer = observer;
  const encoding = headerValue(head.headers, 'content-encoding')?.toLowerCase() ?? 'identity';
  if (encoding !== 'identity') {
    state.decoder = createDecoder(encoding, (bytes) => observer.push(bytes));
  }
}

/** What the status and the stream's own words make of the engine's verdict. */
function outcomeOf(settlement: Settlement<ProxyFrame>, state: Measured): LedgerRow['outcome'] {
  const head = settlement.last.head;
  if (settlement.outcome !== 'ok' || head === undefined) return settlement.outcome;
  if (head.status >= 400) return 'error';
  if (!head.streaming || state.observer === undefined) return 'ok';
  return state.observer.failed() || !state.observer.terminated() ? 'partial' : 'ok';
}

function toFacts(
  settlement: Settlement<ProxyFrame>,
  state: Measured,
  services: Services,
): Partial<LedgerRow> {
  const { last } = settlement;
  const request = last.head?.request ?? last.request?.request;
  const usage = state.observer?.usage() ?? emptyUsage;
  const model = state.observer?.model() ?? (request && modelOf(request)) ?? null;
  const provider = services.providers.get(request?.route?.provider ?? '');
  const measured = usage.inputTokens !== null || usage.outputTokens !== null;
  const input = totalInputTokens(usage);
  return {
    provider: provider?.name ?? null,
    dialect: request?.original.dialect.name ?? null,
    modelRequested: request?.original.facts.model ?? null,
    model,
    stream: last.head?.streaming ?? request?.original.facts.stream ?? false,
    inputTokensRaw: input,
    inputTokensSent: input,
    outputTokens: usage.outputTokens,
    cacheReadTokens: usage.cacheReadTokens,
    cacheWriteTokens: usage.cacheWriteTokens,
    usageEstimated: usage.estimated,
    costNanoUsd:
      measured && provider !== undefined && model !== null
        ? services.prices.costNanoUsd(provider, model, usage, services.clock.wallMs())
        : null,
    attempts: last.head?.attempts.length ?? (provider === undefined ? 0 : 1),
  };
}

/** Watches the answer; writes its row when the run has settled. */
export const meter = defineStage<ProxyFrame, undefined, Services>({
  name: 'meter',
  build: (_config, services) => ({
    open: (): Measured => ({ observer: undefined, decoder: undefined, firstByteMs: undefined }),
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
    async settled(settlement, ctx) {
      const state: Measured = ctx.state ?? {};
      if (state.decoder !== undefined) await state.decoder.end();
      const { last, error } = settlement;
      const body = last.body;
      const facts: LedgerFacts = {
        ...toFacts(settlement, state, services),
        id: ctx.run.id,
        startedMs: ctx.run.startedWallMs,
        endpoint: body === undefined ? '' : body.target.split('?', 1)[0]!,
        outcome: outcomeOf(settlement, state),
        status: last.head?.status ?? (error === undefined ? null : services.statusOf(error.kind)),
        errorKind: error?.kind ?? null,
        errorCode: error?.code ?? null,
        latencyMs: settlement.durationMs,
        ttfbMs: state.firstByteMs ?? null,
        client: body === undefined ? null : clientFamily(body.headers),
        sessionId: body === undefined ? null : sessionOf(body.headers),
      };
      services.ledger.record(ledgerRow(facts));
    },
  }),
});
