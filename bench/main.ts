/** `npm run bench`: compares svc with a plain proxy and with no proxy, in one run. */
import { readProgramOptions, refuseOptions } from '../fixtures/program-options.ts';
import { startRig } from './arms.ts';
import { judge, judgeCost, judgeLoop, judgeMemory, judgeStart } from './bars.ts';
import type { Verdict } from './bars.ts';
import { compare } from './compare.ts';
import type { Comparison } from './compare.ts';
import { median } from './figures.ts';
import { measureGrowth } from './growth/growth.ts';
import { growthText } from './growth/table.ts';
import type { GrowthTable } from './growth/table.ts';
import { measureLoop } from './loop.ts';
import type { LoopRun } from './loop.ts';
import { machine } from './machine.ts';
import { measureMemory } from './memory.ts';
import type { MemoryRun } from './memory.ts';
import { measureDashboard, measureObserved } from './observability.ts';
import type { CostRun } from './observability.ts';
import { createProgress } from './progress.ts';
import { comparisonText, costText, verdictText } from './report.ts';
import { SPEED_WORKLOADS, measureSpeed } from './speed/speed.ts';
import { startSeconds } from './startup.ts';
import { benchRetrieval, benchVault, type RetrievalRun } from './vault-modes.ts';
import type { VaultRun } from './vault-speed.ts';
import { measureWorkers, workersText } from './workers.ts';
import type { WorkersRun } from './workers.ts';
import { workloads } from './workloads.ts';

const USAGE = `npm run bench -- --rounds 5 --seconds 2 --only json,sse-burst
npm run bench -- memory --requests 100000
npm run bench -- memory-all --requests 137000 --turns 2000
npm run bench -- start --json
npm run bench -- loop --seconds 5
npm run bench -- observability --rounds 72
npm run bench -- workers --rounds 5 --seconds 4
npm run bench -- vault --files 3000
npm run bench -- retrieval
npm run bench -- speed --rounds 4 --seconds 1 --portkey DIR
npm run bench -- growth --rows 1000000

bench/README.md describes the modes and options.
Exit code 0 if every bar is met, 1 if one is missed, 2 for a wrong command line.
`;

const MODES = [
  'compare',
  'memory',
  'memory-all',
  'start',
  'loop',
  'observability',
  'workers',
  'vault',
  'retrieval',
  'speed',
  'growth',
] as const;
type Mode = (typeof MODES)[number];

interface Options {
  readonly mode: Mode;
  readonly rounds: number;
  readonly seconds: number;
  readonly requests: number;
  readonly turns: number;
  readonly files: number;
  readonly rows: number;
  readonly portkey: string | undefined;
  readonly only: readonly string[];
  readonly json: boolean;
}

/** All results of a run; absent for what the mode does not measure. */
interface Findings {
  machine?: string;
  comparisons?: Comparison[];
  memory?: MemoryRun;
  loop?: readonly LoopRun[];
  observability?: readonly CostRun[];
  workers?: readonly WorkersRun[];
  startSeconds?: readonly number[];
  vault?: VaultRun;
  retrieval?: RetrievalRun;
  growth?: readonly GrowthTable[];
  verdicts: Verdict[];
}

const progress = createProgress(process.stderr);

/** Parses the command line. Throws a RangeError with the mistake. */
function readOptions(args: string[]): Options {
  const { values, positionals } = readProgramOptions(USAGE, {
    args,
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '2' },
      requests: { type: 'string', default: '100000' },
      turns: { type: 'string', default: '2000' },
      files: { type: 'string', default: '3000' },
      rows: { type: 'string', default: '1000000' },
      portkey: { type: 'string' },
      only: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const [mode = 'compare', ...more] = positionals;
  if (!isMode(mode) || more.length > 0)
    throw new RangeError(`there is no mode "${positionals.join(' ')}", only ${MODES.join(', ')}`);
  const known = mode === 'speed' ? SPEED_WORKLOADS : workloads.map(({ name }) => name);
  const only = values.only?.split(',') ?? known;
  const unknown = only.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new RangeError(`there is no workload "${unknown}"`);
  return {
    mode,
    rounds: toNumber(values.rounds, 'rounds'),
    seconds: toNumber(values.seconds, 'seconds'),
    requests: toNumber(values.requests, 'requests'),
    turns: toNumber(values.turns, 'turns'),
    files: toNumber(values.files, 'files'),
    rows: toNumber(values.rows, 'rows'),
    portkey: values.portkey,
    only,
    json: values.json,
  };
}

function isMode(text: string): text is Mode {
  return (MODES as readonly string[]).includes(text);
}

function toNumber(text: string, name: string): number {
  const value = Number(text);
  if (value > 0 && value < 1e9) return value;
  throw new RangeError(`--${name}: "${text}" is not a number above 0`);
}

async function compareAll(options: Options, findings: Findings): Promise<void> {
  const rig = await startRig();
  findings.comparisons = [];
  try {
    for (const workload of workloads.filter(({ name }) => options.only.includes(name))) {
      const comparison = await compare(rig, workload, { ...options, onProgress: progress.report });
      const verdicts = judge(comparison);
      findings.comparisons.push(comparison);
      findings.verdicts.push(...verdicts);
      show(options, comparisonText(comparison, verdicts));
    }
  } finally {
    await rig.close();
  }
}

/** With captures and audit on, data that waits for the disk is in memory too. */
const MAX_MB = { memory: 200, 'memory-all': 250 } as const;

async function runMemory(
  mode: keyof typeof MAX_MB,
  options: Options,
  findings: Findings,
): Promise<void> {
  const isAll = mode === 'memory-all';
  const rig = await startRig(['direct', 'svc'], isAll);
  try {
    const turns = isAll ? options.turns : 0;
    const memory = await measureMemory(rig, options.requests, progress.report, turns);
    const verdicts = judgeMemory(memory.rssBytes, MAX_MB[mode]);
    findings.memory = memory;
    findings.verdicts.push(...verdicts);
    const steps = memory.rssBytes.map((bytes) => (bytes / 1024 / 1024).toFixed(0)).join(' ');
    show(
      options,
      [
        `memory: ${memory.requests} requests, ${memory.failed} failed`,
        `  RSS MB: ${steps}; ${(memory.restedBytes / 1024 / 1024).toFixed(0)} after 20 s of rest`,
        ...verdicts.map(verdictText),
      ].join('\n'),
    );
  } finally {
    await rig.close();
  }
}

async function runLoop(options: Options, findings: Findings): Promise<void> {
  const rig = await startRig(['direct', 'svc']);
  try {
    const runs = await measureLoop(rig, options.seconds, progress.report);
    const verdicts = runs.map(judgeLoop);
    findings.loop = runs;
    findings.verdicts.push(...verdicts);
    const lines = runs.map(
      ({ workload, requests, failed, p50Ms, maxMs }) =>
        `  ${workload}: ${requests} requests, ${failed} failed, p50 ${p50Ms.toFixed(1)} ms, max ${maxMs.toFixed(1)} ms`,
    );
    show(options, ['event loop', ...lines, ...verdicts.map(verdictText)].join('\n'));
  } finally {
    await rig.close();
  }
}

/** Minimum of short rounds; `--rounds` may ask for more. */
const MIN_ROUNDS = 72;

async function runObservability(options: Options, findings: Findings): Promise<void> {
  const rounds = Math.max(MIN_ROUNDS, options.rounds);
  const how = { rounds, onProgress: progress.report };
  const runs = [...(await measureObserved(how)), ...(await measureDashboard(how))];
  const verdicts = runs.map(judgeCost);
  findings.observability = runs;
  findings.verdicts.push(...verdicts);
  show(options, ['observability', ...runs.map(costText), ...verdicts.map(verdictText)].join('\n'));
}

/** No bar: the benefit of a second thread depends on the number of free cores. */
async function runWorkers(options: Options, findings: Findings): Promise<void> {
  findings.workers = await measureWorkers({ ...options, onProgress: progress.report });
  show(options, ['compressing threads', ...findings.workers.map(workersText)].join('\n'));
}

async function runStart(options: Options, findings: Findings): Promise<void> {
  const seconds: number[] = [];
  // The first start reads the files from disk; the median ignores it.
  while (seconds.length < options.rounds) {
    progress.report(`start: ${seconds.length + 1} of ${options.rounds}`);
    seconds.push(await startSeconds());
  }
  const verdict = judgeStart(median(seconds));
  findings.startSeconds = seconds;
  findings.verdicts.push(verdict);
  show(options, `start: median of ${seconds.length}\n${verdictText(verdict)}`);
}

async function runVault(options: Options, findings: Findings): Promise<void> {
  const found = await benchVault(options.files, progress.report);
  findings.vault = found.run;
  findings.verdicts.push(...found.verdicts);
  show(options, found.text);
}

async function runRetrieval(options: Options, findings: Findings): Promise<void> {
  const found = await benchRetrieval();
  findings.retrieval = found.run;
  findings.verdicts.push(...found.verdicts);
  show(options, found.text);
}

async function runSpeed(options: Options, findings: Findings): Promise<void> {
  const { rounds, seconds, only, portkey } = options;
  const comparisons: Comparison[] = [];
  findings.comparisons = comparisons;
  findings.machine = machine();
  show(options, findings.machine);
  const verdicts = await measureSpeed({
    rounds,
    seconds,
    only,
    ...(portkey !== undefined && { portkey }),
    onProgress: progress.report,
    onResult(result, judged) {
      if (typeof result !== 'string') comparisons.push(result);
      const text =
        typeof result === 'string'
          ? [result, ...judged.map(verdictText)].join('\n')
          : comparisonText(result, judged);
      show(options, text);
    },
  });
  findings.verdicts.push(...verdicts);
}

async function runGrowth(options: Options, findings: Findings): Promise<void> {
  const { rounds, rows } = options;
  const growth: GrowthTable[] = [];
  findings.growth = growth;
  findings.machine = machine();
  show(options, findings.machine);
  const verdicts = await measureGrowth({
    rounds,
    rows,
    onProgress: progress.report,
    onTable(table) {
      growth.push(table);
      show(options, growthText(table));
    },
  });
  findings.verdicts.push(...verdicts);
}

function show({ json }: Options, text: string): void {
  progress.clear();
  if (!json) process.stdout.write(`${text}\n\n`);
}

async function main(): Promise<number> {
  let options: Options;
  try {
    options = readOptions(process.argv.slice(2));
  } catch (thrown) {
    refuseOptions(USAGE, thrown instanceof Error ? thrown.message : String(thrown));
  }
  const findings: Findings = { verdicts: [] };
  if (options.mode === 'memory' || options.mode === 'memory-all')
    await runMemory(options.mode, options, findings);
  else if (options.mode === 'loop') await runLoop(options, findings);
  else if (options.mode === 'observability') await runObservability(options, findings);
  else if (options.mode === 'workers') await runWorkers(options, findings);
  else if (options.mode === 'vault') await runVault(options, findings);
  else if (options.mode === 'retrieval') await runRetrieval(options, findings);
  else if (options.mode === 'speed') await runSpeed(options, findings);
  else if (options.mode === 'growth') await runGrowth(options, findings);
  else {
    await runStart(options, findings);
    if (options.mode === 'compare') await compareAll(options, findings);
  }
  progress.clear();
  if (options.json) process.stdout.write(`${JSON.stringify(findings, undefined, 2)}\n`);
  return findings.verdicts.every(({ met }) => met) ? 0 : 1;
}

process.exitCode = await main();
