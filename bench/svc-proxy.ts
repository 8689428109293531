/**
 * Runs svc as a separate process, bundled into `dist/app` with the program that users start: the
 * real server with default settings in a new temporary home folder. Arguments: the port of the
 * upstream for every provider, then optionally the number of compression threads, or `everything`
 * to turn on captures and audit. `SVC_DB` names another ledger. Only limits that a benchmark would reach are raised.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../server/config/config.ts';
import { loadConfig } from '../server/config/load.ts';
import { startProxy } from '../server/index.ts';
import type { RunningProxy } from '../server/index.ts';
import { logSettings } from '../server/log/open-log.ts';
import { serveParent, usage } from './channel.ts';
import type { Usage } from './channel.ts';
import { createLoopWatch } from './loop-delay.ts';
import type { LoopDelay } from './loop-delay.ts';
import { stageTimes } from './stages.ts';
import type { StageTime } from './stages.ts';

/**
 * How much is observed: the default, everything except what settings turn off, or additionally no
 * rows and traces.
 */
export type Observed = 'default' | 'settings-off' | 'nothing';

/** Commands of the process. */
export type SvcCommands = {
  /** Changes what is observed from now on. */
  observe: (how: Observed) => void;
  /** Resolves when everything recorded so far is in the ledger's file. */
  written: () => Promise<void>;
  usage: () => Usage;
  /** Returns medians by stage over the newest `count` requests (at most 200 are kept). */
  stages: (count: number) => readonly StageTime[];
  /** Returns the number of compression threads. */
  compressThreads: () => number;
  /** Returns the event loop delay since the last call. */
  loopDelay: () => LoopDelay;
};

const SETTINGS = `
security: {rate_limit_per_minute: 1000000000}
rate_limit: {requests_per_second: 1000000, burst_size: 1000000}
streaming: {max_concurrent_streams: 100000}
`;

/**
 * What the default leaves off, and keeps something of each request; as large as an owner would let
 * it grow.
 */
const EVERYTHING = `
capture: { enabled: true, max_mb: 256 }
audit: { enabled: true }
`;

/**
 * Turns recording off and on: what a reload with other settings does, and what no setting turns
 * off.
 */
function observer({ services }: RunningProxy, config: Config): SvcCommands['observe'] {
  const { ledger, log, metrics, traces } = services;
  const recording = { ledger: { ...ledger }, traces: { ...traces } };
  const ignore = (): void => undefined;
  return (how) => {
    const isOn = how === 'default';
    metrics.configure({ ...config.metrics, enabled: isOn });
    log.configure({ ...logSettings(config), isEnabled: isOn });
    const isRecorded = how !== 'nothing';
    Object.assign(ledger, isRecorded ? recording.ledger : { record: ignore });
    Object.assign(traces, isRecorded ? recording.traces : { add: ignore, correct: ignore });
  };
}

async function main(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const file = join(home, 'bench.yaml');
  const [, , upstreamPort, more] = process.argv;
  const isEverything = more === 'everything';
  const workers = isEverything ? undefined : more;
  const text = isEverything ? `${SETTINGS}${EVERYTHING}` : SETTINGS;
  const url = `http://127.0.0.1:${upstreamPort}`;
  const { SVC_DB } = process.env;
  const load = () =>
    loadConfig({
      env: {
        ...(SVC_DB !== undefined && { SVC_DB }),
        SVC_HOME: home,
        MSGPROV_BASE_URL: url,
        CHATPROV_BASE_URL: url,
        GENPROV_BASE_URL: url,
      },
      cwd: home,
      home,
      configPath: file,
      flags: {
        'server.port': 0,
        'server.ws_port': 0,
        ...(workers !== undefined && { 'compression.workers': Number(workers) }),
      },
      readFile: (path) => (path === file ? { text, mode: 0o600 } : undefined),
    });
  const loaded = await load();
  const proxy = await startProxy({
    loaded,
    reload: load,
    version: '0.0.0-bench',
    control: false,
  });
  const remove = (): void => rmSync(home, { recursive: true, force: true });
  process.once('exit', remove);
  const stop = (): void => void proxy.stop(true).finally(() => process.exit(0));
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  serveParent(proxy.port, {
    usage,
    observe: observer(proxy, loaded.config),
    async written() {
      proxy.services.deferredWork.flush();
      await proxy.services.ledgerFile.flush();
    },
    stages: (count) => stageTimes(proxy.services.traces.list(count)),
    compressThreads: () => proxy.services.compressor.load().threads,
    loopDelay: createLoopWatch(),
  } satisfies SvcCommands);
}

await main();
