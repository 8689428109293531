/**
 * Replays captures: each request goes through the graph of today's configuration, with all of its
 * stages; only the upstream is the recording. The result is recorded like the original, so that the
 * two records can be compared.
 */
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { Cancelled, SvcError, createCanceller, systemClock } from '../../engine/index.ts';
import type { Clock, RunInfo } from '../../engine/index.ts';
import type { CaptureRecord } from '../../stages/captures/record.ts';
import { scrubRecord } from '../../stages/captures/scrub.ts';
import type { CaptureJob } from '../../stages/captures/parcel.ts';
import type { CaptureWriter } from '../../stages/captures/writer.ts';
import { resolveEndpoint } from '../../stages/dialect/endpoints.ts';
import type { BodyFrame } from '../../stages/model/body.ts';
import { headerValue, withoutHeaders } from '../../stages/model/headers.ts';
import { noLedgerWriter } from '../../stages/ledger/writer/no-writer.ts';
import { templateFolder } from '../../stages/templates/files.ts';
import { decodeBody } from '../../stages/wire/decode.ts';
import { encodingToUndo, toBodyFrame } from '../http/body-frame.ts';
import { CAPTURE_HEADER } from '../../stages/captures/files.ts';
import { compileOnly } from '../generation/compile-only.ts';
import type { Config } from '../config/config.ts';
import type { Variables } from '../config/env.ts';
import { silentLog } from '../log/silent.ts';
import { pluginReasons } from '../generation/plugins.ts';
import { routeRulesFile } from '../generation/route-rules.ts';
import { runAndReport } from '../run/run-and-report.ts';
import { createServices } from '../services.ts';
import { createRecordedUpstream } from './recorded-upstream.ts';

export interface ReplayOptions {
  /** The configuration to test. Its home is read and never written. */
  readonly config: Config;
  /** An empty folder for files that the graph writes. */
  readonly scratch: string;
  /** Variables with the keys of code providers. */
  readonly env: Variables;
  /** Removes `x-svc-mode` from the requests, so that the configured mode applies. */
  readonly ignoresMode?: boolean;
}

/** Placeholder for a key that is not configured here: nothing is sent anywhere. */
const NO_KEY = 'not-sent-in-a-replay';
/** What a graph reads from the home besides the configuration. */
const READ_FROM_HOME = (home: string) => [
  routeRulesFile(home),
  join(home, 'learned.json'),
  templateFolder(home),
];

/** Opens the graph of a configuration. Throws `config` as a start would. */
export async function openReplay(options: ReplayOptions) {
  const { scratch, env } = options;
  for (const file of READ_FROM_HOME(options.config.home))
    if (existsSync(file)) cpSync(file, join(scratch, file.split('/').at(-1)!), { recursive: true });
  const config = toReplayConfig(options.config, scratch);
  const clock = createReplayClock();
  const log = silentLog(scratch, clock);
  const upstream = createRecordedUpstream();
  const catcher = createRecordHolder();
  const services = await createServices({
    config,
    log,
    clock,
    upstream,
    // The replay is captured like any run; its ledger rows are discarded.
    ledgerWriter: noLedgerWriter,
    captureWriter: catcher.writer,
  });
  try {
    const macroHome = options.config.home;
    const generation = await compileOnly({ config, services, env, scratch, macroHome });
    generation.activate();
    const { prices, providers } = generation;
    return {
      /** Today's providers and prices. */
      today: { prices, providers },
      /** Differences from a real proxy. */
      warnings: pluginReasons(generation.custom),
      /** Sends a recorded request through the graph, and returns the record of what happened. */
      async run(record: CaptureRecord): Promise<CaptureRecord> {
        // Provider health is not recorded: each run starts with healthy providers.
        for (const name of services.states.view().keys())
          services.states.forceHealth(name, 'healthy');
        clock.moveTo(record.startedMs);
        const controller = createCanceller();
        upstream.play(record, () => controller.abort(new Cancelled('client_gone')));
        const info: RunInfo = {
          id: record.id,
          clock,
          startedWallMs: clock.wallMs(),
          startedMs: clock.monotonicMs(),
          signal: controller.signal,
        };
        const body = await toBody(record, config, options.ignoresMode === true);
        await runAndReport(generation.planOf(body), body, info, NOWHERE, services);
        services.deferredWork.flush();
        return catcher.take(record.id);
      },
      close: () => services.close(),
    };
  } catch (thrown) {
    await services.close();
    throw thrown;
  }
}

/**
 * Returns the configuration without anything that depends on more than the request, and without
 * anything that leaves traces.
 */
function toReplayConfig(config: Config, scratch: string): Config {
  const providers = Object.entries(config.providers).map(([name, provider]) => {
    const needsKey = provider.auth === 'key' && provider.keys.length === 0;
    const key = { secret: NO_KEY, scheme: 'api-key' as const, label: 'replay' };
    return [name, needsKey ? { ...provider, keys: [key] } : provider] as const;
  });
  return {
    ...config,
    home: scratch,
    providers: Object.fromEntries(providers),
    ledger: { db: join(scratch, 'monitor.db') },
    capture: { ...config.capture, enabled: true },
    logging: { ...config.logging, enabled: false },
    audit: { ...config.audit, enabled: false },
    metrics: { ...config.metrics, enabled: false },
    telemetry: { ...config.telemetry, enabled: false },
    // Only the recorded response is the right one.
    cache: { ...config.cache, enabled: false, type: 'memory' },
    budget: { ...config.budget, enabled: false },
    routing: { ...config.routing, rpm: {} },
    // The load of this machine must not influence the result.
    compression: { ...config.compression, maxTimeMs: 0 },
  };
}

async function toBody(
  { request }: CaptureRecord,
  config: Config,
  ignoresMode: boolean,
): Promise<BodyFrame> {
  const { method, target } = request;
  const headers = withoutHeaders(
    request.headers,
    (name) => name === CAPTURE_HEADER || (ignoresMode && name === 'x-svc-mode'),
  );
  const endpoint = resolveEndpoint(method, target, headers);
  if (endpoint === undefined || 'allow' in endpoint)
    throw new SvcError('bad_request', `${method} ${target} is not a path that is proxied`);
  const wireBytes = Buffer.from(request.body);
  const encoding = encodingToUndo(endpoint, headerValue(headers, 'content-encoding'));
  const bytes =
    encoding === undefined
      ? wireBytes
      : await decodeBody(wireBytes, encoding, config.limits.maxProxiedRequestBytes);
  const paused = request.untouchable === 'paused';
  return toBodyFrame({ method, target, headers, endpoint, paused }, wireBytes, bytes, config);
}

/** A client that accepts everything at once. */
const NOWHERE = {
  whole: () => undefined,
  write: () => undefined,
  end: () => undefined,
  fail: () => undefined,
};

/** Keeps the record that was written last. */
function createRecordHolder() {
  let job: CaptureJob | undefined;
  const writer: CaptureWriter = {
    hasRoom: true,
    write(written, done) {
      job = written;
      done(null);
    },
    prune: () => undefined,
    flush: async () => undefined,
    close: async () => undefined,
  };
  return {
    writer,
    async take(id: string): Promise<CaptureRecord> {
      const taken = job;
      job = undefined;
      if (taken?.record.id !== id)
        throw new SvcError('internal', `Nothing was recorded of the replayed run ${id}`);
      return scrubRecord(taken.record, taken.secrets);
    },
  };
}

/**
 * Creates a clock set back to the start of a run: prices and times in responses are those of that
 * moment.
 */
function createReplayClock(): Clock & { moveTo(wallMs: number): void } {
  let offsetMs = 0;
  return {
    ...systemClock,
    wallMs: () => Math.round(systemClock.monotonicMs() + offsetMs),
    moveTo(wallMs) {
      offsetMs = wallMs - systemClock.monotonicMs();
    },
  };
}
