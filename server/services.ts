/**
 * Opens everything that outlives a request and a reload, and closes it in reverse order. State
 * derived from the configuration alone belongs to a generation: `compile.ts`.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createDeferredWork, createTurn, systemClock } from '../engine/index.ts';
import type { Clock, ErrorKind, SvcError } from '../engine/index.ts';
import type { AnswerStore } from '../stages/answers/answer.ts';
import { openDiskAnswers } from '../stages/answers/disk.ts';
import { createFlights } from '../stages/answers/flights.ts';
import { createMemoryAnswers } from '../stages/answers/memory.ts';
import { auditFiles } from '../stages/audit/files.ts';
import { AuditLog } from '../stages/audit/log.ts';
import { DEFERRED_BILLS_FILE, openDeferredBills } from '../stages/budget/deferred-bills-file.ts';
import { releaseReservation } from '../stages/budget/release-reservation.ts';
import { SpendingGuard } from '../stages/budget/guard.ts';
import { periodStartMs } from '../stages/budget/owners.ts';
import { captureFolder } from '../stages/captures/files.ts';
import { createCaptureWriter } from '../stages/captures/writer.ts';
import type { CaptureWriter } from '../stages/captures/writer.ts';
import { createCompressThread } from '../stages/compress/worker/compress-thread.ts';
import { createConversations } from '../stages/conversations/conversations.ts';
import { openStore } from '../stages/conversations/store-file.ts';
import { COMPRESSION_VERSION } from '../stages/compress/version.ts';
import { openLearned } from '../stages/learned/learned.ts';
import { createCallMarks } from '../stages/dialect/call-marks.ts';
import { isPostgresUrl } from '../stages/ledger/address.ts';
import { Metrics } from '../stages/ledger/metrics.ts';
import type { PlanLimits } from '../stages/limits/plan-limits.ts';
import { LIMITS_FILE, openPlanLimits } from '../stages/limits/limits-file.ts';
import { createPriceList } from '../stages/ledger/prices/price-list.ts';
import { createTraces } from '../stages/ledger/traces.ts';
import { createSessionWindow } from '../stages/ledger/window.ts';
import { ThreadedWriter } from '../stages/ledger/writer/threaded-writer.ts';
import type { LedgerWriter } from '../stages/ledger/writer/writer-contract.ts';
import type { LedgerRow } from '../stages/ledger/row.ts';
import { createOriginals } from '../stages/originals/originals.ts';
import type { BodyFrame } from '../stages/model/body.ts';
import { createProviderStates } from '../stages/providers/states.ts';
import { createAgent, createUpstream } from '../stages/providers/undici-upstream.ts';
import type { Upstream } from '../stages/providers/upstream.ts';
import { createLiveRouter } from '../stages/route/rules-router.ts';
import type { Vault } from '../stages/vault/contract.ts';
import { deferVault } from '../stages/vault/deferred.ts';
import { createActiveAlerts } from './alerts/active.ts';
import { credentialsOf } from './log/credentials.ts';
import { requestEvent } from './log/audit-trail.ts';
import { createLiveRequests } from './dashboard/live-rows.ts';
import { createCaptures } from './capture/captures.ts';
import { recordingUpstream } from './capture/recording-upstream.ts';
import { decisionsFile } from './config/home.ts';
import type { Config } from './config/config.ts';
import { createInFlight } from './http/in-flight.ts';
import { createRateLimiter, createStreamLimit } from './http/limit.ts';
import type { Log } from './log/log.ts';
import type { Shared } from './shared/open-shared.ts';
import { shareProviders } from './shared/shared-states.ts';
import { shareBills } from './shared/shared-bills.ts';
import { createSharedSpending, proxyIdentity } from './shared/shared-spending.ts';
import { createRateCounts } from './shared/rate-counts.ts';
import { createSharedAnswers } from './shared/shared-answers.ts';
import { createInterceptedConnections } from './forward-proxy/intercepted-hosts.ts';
import { outboundWays } from './outbound/outbound.ts';
import { createRequestLog } from './log/request-log.ts';
import { errorTable } from './http/error-response.ts';
import { askLedger } from './control/ledger-questions.ts';
import { spendingSettings, spentBefore } from './facts/spending.ts';
import { readFleet } from './fleet/fleet-file.ts';
import { openTelemetry } from './telemetry/telemetry.ts';

/** Services shared by stages, plus those that only the server uses. */
export type ServerServices = Awaited<ReturnType<typeof createServices>>;

export interface ServiceOptions {
  readonly config: Config;
  readonly log: Log;
  readonly version?: string;
  readonly clock?: Clock;
  /** Called with ledger problems, besides logging them. */
  readonly onProblem?: (error: SvcError) => void;
  /** State shared with other proxies; undefined if this one is alone. */
  readonly shared?: Shared | undefined;
  /** Replaces the providers. */
  readonly upstream?: Upstream;
  /** Receives rows instead of the thread that writes them to the ledger's file. */
  readonly ledgerWriter?: LedgerWriter;
  /** Receives captures instead of the home's files. */
  readonly captureWriter?: CaptureWriter;
}

/** Rows are written in batches: they reach the file within 100 ms, of which the writer waits 30. */
const RECORDED = { withinMs: 5, maxPending: 16 };

/**
 * Opens the services. The ledger opens in its own thread; `ledger.ready()` resolves when it has.
 */
export async function createServices(options: ServiceOptions) {
  const { config, log, clock = systemClock, shared } = options;
  const telemetry = await openTelemetry({ config, log, clock, version: options.version ?? '' });
  const turn = createTurn();
  const outbound = outboundWays(config.outbound);
  const wire = options.upstream ?? createUpstream(createAgent(outbound.open), turn);
  const upstream = recordingUpstream(wire, (runId) => captures.recorderOf(runId));
  const startedMs = clock.wallMs();
  const ledgerFile: LedgerWriter =
    options.ledgerWriter ??
    new ThreadedWriter({
      db: config.ledger.db,
      clock,
      onProblem(error) {
        log.error(error.message, { code: error.code });
        options.onProblem?.(error);
      },
    });
  const audit = new AuditLog({
    files: auditFiles(config.home),
    clock,
    onProblem: (error) => log.error(`audit: ${error.message}`, { cause: error }),
  });
  const questions = askLedger(config.ledger.db);
  const node = await nodeName(config, log);
  // Limits apply per proxy, even if the ledger is shared.
  const own = isPostgresUrl(config.ledger.db) ? { node } : undefined;
  const window = createSessionWindow(startedMs);
  const spending = new SpendingGuard(spendingSettings(config), clock);
  if (shared !== undefined)
    spending.sharing = createSharedSpending(shared.link, proxyIdentity(config, node, shared));
  spending.recallFrom(() => spentBefore(questions, clock, startedMs, own));
  const store = await openStore({
    file: decisionsFile(config.home),
    clock,
    maxChars: config.compression.rememberMb * 1024 * 1024,
    maxDays: config.compression.rememberDays,
    onProblem: (error) => log.error('memory of conversations is not kept', { cause: error }),
  });
  const learned = await openLearned({
    file: join(config.home, 'learned.json'),
    clock,
    onProblem: (error) => log.error('what was learned is not kept', { cause: error }),
  });
  const limits = await openPlanLimits({
    file: join(config.home, LIMITS_FILE),
    clock,
    onProblem: (cause) => log.error('the state of plan and rate limits is not kept', { cause }),
  });
  const deferred = await openDeferredBills({
    file: join(config.home, DEFERRED_BILLS_FILE),
    clock,
    onProblem: (cause) => log.error('what is billed once is not kept', { cause }),
  });
  // The reserved cost is in the ledger, next to the cost of its row; reserved tokens are counted
  // here only.
  spending.count(0, deferred.deferredBills.heldTokens(periodStartMs('day', clock.wallMs())));
  if (shared !== undefined)
    shareBills(deferred.deferredBills, shared.link, (held) =>
      releaseReservation(held, spending, clock.wallMs()),
    );
  const compressor = createCompressThread({
    cacheEntries: config.compression.cacheEntries,
    workers: config.compression.workers,
    clock,
  });
  const vault = open(config, log, clock);
  const deferredWorkFaults = { count: 0 };
  const deferredWork = createDeferredWork(clock, {
    ...RECORDED,
    // No one waits for its result, and a failure stops nothing.
    onFault(thrown) {
      deferredWorkFaults.count += 1;
      log.error('work after an answer failed', { cause: thrown });
    },
  });
  const states = createProviderStates(clock);
  if (shared !== undefined) shareProviders(states, shared.link);
  const metrics = new Metrics(() => clock.monotonicMs());
  const traces = createTraces(undefined, (spans) => metrics.addStages(spans));
  const live = createLiveRequests();
  const logRequest = createRequestLog(log, traces);
  const captures = createCaptures({
    writer:
      options.captureWriter ??
      createCaptureWriter(captureFolder(config.home), () => clock.wallMs()),
    clock,
    report: (runId, what) => traces.captured(runId, what),
    onProblem: (reason) => log.warning('a request was not captured', { reason }),
  });
  return {
    clock,
    turn,
    deferredWork,
    /** Failures of work done after a response, since the start. */
    deferredWorkFaults,
    log,
    withoutKeys: (words: string, body: BodyFrame | undefined) =>
      log.clean(words, body === undefined ? [] : credentialsOf(body.headers, body.target)),
    upstream,
    outbound,
    /** Connections of forward mode. */
    intercepted: createInterceptedConnections(),
    /** Records runs for replay; off until an activated generation enables it. */
    captures,
    /**
     * Records a finished request in the file, in the live window and, if requested, in the log: the
     * only way in. `reason` is why a request without a run was refused.
     */
    ledger: {
      record(row: LedgerRow, reason?: string): void {
        ledgerFile.record(row);
        window.add(row);
        metrics.add(row);
        spareOf(limits.planLimits, row);
        live.add(row);
        if (audit.isEnabled) audit.add(requestEvent(row));
        captures.finish(row);
        if (telemetry.isEnabled) telemetry.end(row, traces.get(row.id));
        logRequest(row, reason);
      },
    },
    ledgerFile,
    node,
    /** Also off at first. */
    audit,
    /** Reads the ledger's file, in a separate thread. */
    questions,
    /** When these services were opened, in milliseconds since the epoch. */
    startedMs,
    statusOf: (kind: ErrorKind) => (kind === 'cancelled' ? null : errorTable[kind].status),
    window,
    /** Publishes finished requests to watchers. */
    live,
    traces,
    /** Inactive until a generation is activated, like the limits below. */
    metrics,
    /** The public price list; each generation puts the user's prices on top. */
    priceList: createPriceList(),
    limiter: createRateLimiter({ clock, shared: shared && createRateCounts(shared.link) }),
    streams: createStreamLimit(config.streaming.maxConcurrentStreams),
    /** Bytes of requests that have not arrived in full. */
    inFlight: createInFlight(clock),
    /** State that several proxies share through Redis; undefined if this one is alone. */
    shared,
    states,
    planLimits: limits.planLimits,
    router: createLiveRouter(),
    spending,
    deferredBills: deferred.deferredBills,
    callMarks: createCallMarks(),
    answers: { store: await openAnswers(config, clock, shared), flights: createFlights({ clock }) },
    conversations: createConversations({ store, clock, version: COMPRESSION_VERSION }),
    compressor,
    originals: createOriginals(),
    learned,
    activeAlerts: createActiveAlerts(),
    telemetry,
    /** Open even if nothing is injected: it can still be searched and added to. */
    vault,
    async close(): Promise<void> {
      deferredWork.flush();
      await telemetry.close();
      await captures.close();
      await questions.close();
      await ledgerFile.close();
      await audit.close();
      await compressor.close();
      await vault.close();
      await store.flush();
      await learned.flush();
      await limits.flush();
      await deferred.flush();
      await upstream.close();
      shared?.link.close();
      await log.close();
    },
  };
}

/**
 * Credits what a request did not use of a plan: its compressed part, or all of it if our cache
 * answered.
 */
function spareOf(planLimits: PlanLimits, row: LedgerRow): void {
  const whole = (row.inputTokensRaw ?? 0) + (row.outputTokens ?? 0);
  planLimits.noteSpared(
    row,
    row.cacheHit ? { tokens: whole, requests: 1 } : { tokens: row.savedTokens ?? 0, requests: 0 },
  );
}

/** Returns the name of this machine. A faulty fleet file must not prevent serving. */
async function nodeName({ fleet, home, ledger }: Config, log: Log): Promise<string | null> {
  if (fleet.node !== null) return fleet.node;
  try {
    const node = (await readFleet(home))?.node ?? null;
    if (node === null && isPostgresUrl(ledger.db))
      log.warning(
        'in the shared ledger the rows of this machine have no name; svc fleet init gives it one',
      );
    return node;
  } catch (cause) {
    log.warning('rows get no name of this machine', { cause });
    return null;
  }
}

async function openAnswers(
  config: Config,
  clock: Clock,
  shared: Shared | undefined,
): Promise<AnswerStore> {
  const { type, maxBytes, ttlMs } = config.cache;
  const bounds = { maxBytes, ttlMs, clock };
  const own =
    type === 'memory'
      ? createMemoryAnswers(bounds)
      : await openDiskAnswers({ folder: join(config.home, 'answers'), ...bounds });
  return shared === undefined ? own : createSharedAnswers({ own, link: shared.link, ...bounds });
}

function open(config: Config, log: Log, clock: Clock): Vault {
  return deferVault({
    indexDir: config.vault.indexPath,
    backend: config.vault.backend,
    clock,
    newId: () => randomBytes(9).toString('base64url'),
    onProblem: ({ what, movedTo }) =>
      log.error('the vault was damaged and is being repaired', { what, movedTo }),
  });
}
