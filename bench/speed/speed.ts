/**
 * The speed table: svc and the proxies of others, in one run and in alternating order, with small
 * requests, streams, and the sessions of coding agents, whose new tool results svc compresses.
 */
import { agentSession } from '../agent-session.ts';
import { startRig } from '../arms.ts';
import { judge, verdict } from '../bars.ts';
import type { Verdict } from '../bars.ts';
import { compare } from '../compare.ts';
import type { Comparison } from '../compare.ts';
import { REQUEST_LIMITS } from '../limits/requests.ts';
import { savedPercent, tokensOf } from '../saved-tokens.ts';
import { SERIAL } from '../tool-results.ts';
import { workloadNamed } from '../workloads.ts';
import type { Workload } from '../workloads.ts';
import { startOthers } from './other-proxies.ts';

/** How to measure. */
export interface SpeedOptions {
  readonly rounds: number;
  /** Seconds of a slice; sessions take as long as they take. */
  readonly seconds: number;
  /** Names of workloads. */
  readonly only: readonly string[];
  /** Folder in which `@portkey-ai/gateway` is installed. */
  readonly portkey?: string;
  readonly onProgress: (text: string) => void;
  /** Called with each result as soon as there is one. */
  readonly onResult: (found: Comparison | string, verdicts: readonly Verdict[]) => void;
}

const { path, headers } = workloadNamed('json');
const AGENTS = 4;
/** The first workload of a kind compiles most of its code. */
const WARM_UP_SLICES: Readonly<Record<string, number>> = {
  json: 6,
  'sse-burst': 3,
  'agent-100k': 3,
};
/** An unhurried session saves more than twice this: less means that compression did not keep up. */
const SAVED = {
  what: 'input tokens saved',
  unit: '%',
  direction: 'at least',
  bar: 20,
} as const;

/** Sessions from their first request until twice this size, which is thus that of the mean body. */
const growingSession = (kilobytes: number, each: number): Workload => {
  const name = `agent-${kilobytes}k`;
  const turns = Math.round((2 * (kilobytes - 20)) / TURN_KB);
  const { body, cuts, tail } = agentSession({ name, lines: Array<number>(turns).fill(TURN_LINES) });
  return {
    name,
    about: `sessions of ${turns} turns that grow to ${Math.round(body.length / 1000)} kB, ${AGENTS} at a time as fast as they go`,
    path,
    headers,
    body,
    serial: SERIAL,
    conversation: { cuts, tail, each },
    connections: AGENTS,
    events: 0,
  };
};
const TURN_LINES = 130;
const TURN_KB = 8.8;

/** Turns until 1 MB, and the ones that are measured after them. */
const LONG_TURNS = 400;
const MEASURED_TURNS = 100;
const LONG_TURN_LINES = 30;
/** Turns by which the history grows before it is measured. */
const WARM_STEP = 4;

const longSession = (): Workload => {
  const name = 'agent-1m';
  const lines = Array<number>(LONG_TURNS + MEASURED_TURNS).fill(LONG_TURN_LINES);
  const { body, cuts, tail } = agentSession({ name, lines });
  const kilobytes = Math.round(cuts[LONG_TURNS]! / 1000);
  return {
    name,
    about: `turns ${LONG_TURNS + 1} to ${lines.length} of a session, from ${kilobytes} kB on, one connection`,
    path,
    headers,
    body,
    serial: SERIAL,
    conversation: { cuts: cuts.slice(LONG_TURNS), tail, each: 1 },
    warmCuts: cuts.slice(0, LONG_TURNS).filter((_, turn) => turn % WARM_STEP === 0),
    connections: 1,
    events: 0,
  };
};

/** Every workload, in execution order. */
export const SPEED_WORKLOADS = [
  'json',
  'sse-burst',
  'sse-spaced',
  'agent-100k',
  'agent-400k',
  'agent-1m',
];

function workloadOf(name: string): Workload {
  if (name === 'agent-100k') return growingSession(100, 4);
  if (name === 'agent-400k') return growingSession(400, 1);
  return name === 'agent-1m' ? longSession() : workloadNamed(name);
}

/** Measures every workload; resolves with all verdicts. */
export async function measureSpeed(options: SpeedOptions): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  const addResult = (one: Comparison | string, judged: readonly Verdict[]): void => {
    verdicts.push(...judged);
    options.onResult(one, judged);
  };
  const rig = await startRig(['direct', 'plain', 'svc'], false, async (port) => {
    const { arms, notes } = await startOthers(port, options.portkey);
    addResult(notes.map((note) => `  ${note}`).join('\n'), []);
    return arms;
  });
  try {
    const all = SPEED_WORKLOADS.filter((name) => options.only.includes(name)).map(workloadOf);
    for (const workload of all) {
      const warmUpSlices = WARM_UP_SLICES[workload.name] ?? 1;
      const before = await tokensOf(rig.svc.port);
      const comparison = await compare(rig, workload, { ...options, warmUpSlices });
      const judged = judge(comparison);
      const isAgent = workload.conversation !== undefined;
      const percent = savedPercent(before, await tokensOf(rig.svc.port));
      const saved = verdict(SAVED, percent, workload.name);
      addResult(comparison, isAgent ? [...judged, saved] : judged);
    }
  } finally {
    await rig.close();
  }
  options.onProgress('first compression');
  const limits = REQUEST_LIMITS.find(({ name }) => name === 'compression')!;
  const first = (await limits.measure()).map(({ what, unit, max, value }) =>
    verdict({ what, unit, direction: 'at most', bar: max }, value),
  );
  addResult('after a start', first);
  return verdicts;
}
