/** What grows with streams, bytes and turns: the processor time of svc's process. */
import { setTimeout } from 'node:timers/promises';
import { agentSession } from '../agent-session.ts';
import type { AgentSession } from '../agent-session.ts';
import type { Rig } from '../arms.ts';
import type { LoadJob } from '../load.ts';
import { savedPercent, tokensOf } from '../saved-tokens.ts';
import { SERIAL } from '../tool-results.ts';
import { workloadNamed } from '../workloads.ts';
import { cpuMsOf, measurePoints } from './table.ts';
import type { GrowthTable } from './table.ts';

const { path, headers } = workloadNamed('json');
const slowStreams = workloadNamed('slow-streams');

/** Streams at a time, and how often: few cost little, so they are repeated. */
const STREAMS = [
  { size: 1, waves: 3 },
  { size: 3, waves: 3 },
  { size: 10, waves: 2 },
  { size: 32, waves: 2 },
  { size: 100, waves: 1 },
  { size: 316, waves: 1 },
  { size: 1000, waves: 1 },
];
const IDLE_MS = 3000;

/** Streams of events 100 ms apart, 1 to 1,000 at a time, without what an idle proxy uses. */
export async function growthOfStreams(rig: Rig, rounds: number): Promise<GrowthTable> {
  const jobOf = (connections: number, waves: number): LoadJob => {
    const { path: to, headers: fields, body } = slowStreams;
    const requests = connections * waves;
    return { port: rig.svc.port, path: to, headers: fields, body, connections, requests };
  };
  await run(rig, jobOf(STREAMS.at(-1)!.size, 1));
  const idleMs = await cpuMsOf(rig.svc, () => setTimeout(IDLE_MS));
  const points = await measurePoints(STREAMS, rounds, async ({ size, waves }) => {
    const { cpuMs, tookMs } = await run(rig, jobOf(size, waves));
    return (cpuMs - (idleMs / IDLE_MS) * tookMs) / waves;
  });
  const about = 'streams of 20 events, 100 ms apart';
  const cost = 'all of them';
  return { name: 'streams', about, sizes: 'at a time', cost, growth: 'linear', points };
}

/** Smallest body that is fitted. */
const FROM_BYTES = 90_000;
const BODY_KB = [1, 10, 100, 300, 1000, 3000, 10_000];
/** A result's lines in bodies from 10 kB on, and its bytes. */
const RESULT_LINES = 130;
const RESULT_BYTES = 10_600;
/** Bodies that are fitted save more than twice this, unless compression ran out of time. */
const MIN_SAVED_PERCENT = 20;
/** Bytes to send of each size, in at most so many requests. */
const BODY_BYTES = 4e6;
const MAX_REQUESTS = 200;

/** Bodies of 1 kB to 10 MB, first when all of their text is new, then when all of it is known. */
export async function growthOfBodies(rig: Rig, rounds: number): Promise<readonly GrowthTable[]> {
  const steps = BODY_KB.map((kilobytes) => {
    const bytes = kilobytes * 1000;
    const count = Math.max(1, Math.round(bytes / RESULT_BYTES));
    const lines = Array<number>(count).fill(kilobytes > 1 ? RESULT_LINES : 10);
    const session = agentSession({ name: `body-${kilobytes}`, lines, systemBytes: 1, tool: 0 });
    const requests = Math.round(BODY_BYTES / bytes);
    const size = session.cuts.at(-1)! + session.tail.length;
    return { size, session, each: Math.min(MAX_REQUESTS, Math.max(2, requests)) };
  });
  let sent = 0;
  const costOf = async ({ size, session, each }: (typeof steps)[number], isNew: boolean) => {
    const cuts = session.cuts.slice(-1);
    const first = (isNew ? (sent += each) : sent) - each;
    const repeated = isNew ? { cuts, each } : { cuts: Array<number>(each).fill(cuts[0]!), each: 1 };
    const job = jobOfSession(rig, session, first, repeated);
    if (!isNew) await run(rig, jobOfSession(rig, session, first, { cuts, each: 1 }));
    const before = await tokensOf(rig.svc.port);
    const { cpuMs } = await run(rig, job);
    const saved = savedPercent(before, await tokensOf(rig.svc.port));
    return size < FROM_BYTES || saved >= MIN_SAVED_PERCENT ? cpuMs / each : Number.NaN;
  };
  const tables: GrowthTable[] = [];
  for (const isNew of [true, false]) {
    // One round compiles the code.
    await measurePoints(steps, 1, (step) => costOf(step, isNew));
    const points = await measurePoints(steps, rounds, (step) => costOf(step, isNew));
    tables.push({
      name: isNew ? 'new bodies' : 'known bodies',
      about: `requests with tool results that svc ${isNew ? 'has never seen' : 'has compressed before'}`,
      sizes: 'bytes',
      cost: 'a request',
      growth: 'linear',
      from: FROM_BYTES,
      points,
    });
  }
  return tables;
}

const TURNS = [1, 4, 16, 64, 200, 400];
const HISTORY_BYTES = 1e6;
/** Bytes of a line of a result, and of a turn besides its result. */
const LINE_BYTES = 76;
const TURN_BYTES = 520;
const NEW_LINES = 30;
const NEW_TURNS = 20;

/** Sessions whose history of 1 MB has 1 to 400 turns, and then twenty more of 2.5 kB. */
export async function growthOfTurns(rig: Rig, rounds: number): Promise<GrowthTable> {
  const steps = TURNS.map((turns) => {
    const lines = Math.round((HISTORY_BYTES / turns - TURN_BYTES) / LINE_BYTES);
    const all = [...Array<number>(turns).fill(lines), ...Array<number>(NEW_TURNS).fill(NEW_LINES)];
    return { size: turns, session: agentSession({ name: `turns-${turns}`, lines: all, tool: 0 }) };
  });
  const costOf = async ({ size, session }: (typeof steps)[number], round: number) => {
    const jobOf = (cuts: readonly number[]) => jobOfSession(rig, session, round, { cuts, each: 1 });
    await run(rig, jobOf(session.cuts.slice(size - 1, size)));
    return (await run(rig, jobOf(session.cuts.slice(size)))).cpuMs / NEW_TURNS;
  };
  await measurePoints(steps, 1, (step) => costOf(step, rounds));
  const points = await measurePoints(steps, rounds, costOf);
  const kilobytes = steps.map(({ size, session }) => Math.round(session.cuts[size - 1]! / 1000));
  const about = `turns of 2.5 kB after a history of ${Math.min(...kilobytes)} to ${Math.max(...kilobytes)} kB`;
  return { name: 'turns', about, sizes: 'turns before', cost: 'a turn', growth: 'flat', points };
}

function jobOfSession(
  { svc }: Rig,
  { body, tail }: AgentSession,
  first: number,
  { cuts, each }: { readonly cuts: readonly number[]; readonly each: number },
): LoadJob {
  const serial = { text: SERIAL, first };
  const conversation = { cuts, tail, each };
  return { port: svc.port, path, headers, body, serial, conversation, connections: 1 };
}

/** Sends `job`; every request must succeed. */
async function run(rig: Rig, job: LoadJob): Promise<{ cpuMs: number; tookMs: number }> {
  let tookMs = Number.NaN;
  const cpuMs = await cpuMsOf(rig.svc, async () => {
    const result = await rig.load.call('run', job);
    ({ tookMs } = result);
    const failed = Object.keys(result.failed).join(', ');
    if (failed !== '') throw new Error(`a request of a growth table failed: ${failed}`);
  });
  return { cpuMs, tookMs };
}
