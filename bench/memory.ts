/**
 * Measures whether svc's memory stays level: RSS during many requests, JSON and streams in turn.
 */
import { setTimeout } from 'node:timers/promises';
import type { Rig } from './arms.ts';
import { toolResults } from './tool-results.ts';
import { workloads } from './workloads.ts';

/** Memory during a long run. */
export interface MemoryRun {
  readonly requests: number;
  /** RSS of the proxy's process, in bytes, before the first step and after each. */
  readonly rssBytes: readonly number[];
  readonly failed: number;
  /** RSS twenty idle seconds later. */
  readonly restedBytes: number;
}

const STEPS = 20;
/** Each step is nine parts JSON and one part streams, like clients' small calls and turns. */
const STREAMED_PART = 10;
const REST_MS = 20_000;
/** Agents at work at a time. */
const AGENTS = 4;

/**
 * Sends `requests` through svc in twenty steps, and `agentTurns` turns of an agent, some 120 KB
 * each, between them.
 */
export async function measureMemory(
  rig: Rig,
  requests: number,
  onProgress: (text: string) => void,
  agentTurns = 0,
): Promise<MemoryRun> {
  const svc = rig.arms.find(({ name }) => name === 'svc')!;
  const parts = ['json', 'sse-burst'].map((name) => workloads.find((each) => each.name === name)!);
  const {
    path: agentPath,
    headers: agentHeaders,
    body: agentBody,
    serial,
  } = toolResults(parts[0]!);
  const rssBytes = [(await rig.svc.call('usage')).rssBytes];
  let sent = 0;
  let failed = 0;
  for (let step = 1; step <= STEPS; step += 1) {
    for (const { path, headers, body, connections, events } of parts) {
      const count =
        Math.ceil(requests / STEPS / STREAMED_PART) * (events > 0 ? 1 : STREAMED_PART - 1);
      const job = { port: svc.port, path, headers, body, connections, requests: count };
      const result = await rig.load.call('run', job);
      sent += result.ok;
      failed += Object.values(result.failed).reduce((sum, each) => sum + each, 0);
    }
    const turns = Math.ceil(agentTurns / STEPS);
    if (turns > 0) {
      const result = await rig.load.call('run', {
        port: svc.port,
        path: agentPath,
        headers: agentHeaders,
        body: agentBody,
        connections: AGENTS,
        requests: turns,
        ...(serial !== undefined && { serial: { text: serial, first: step * turns } }),
      });
      sent += result.ok;
      failed += Object.values(result.failed).reduce((sum, each) => sum + each, 0);
    }
    rssBytes.push((await rig.svc.call('usage')).rssBytes);
    onProgress(`memory: ${sent} requests, ${Math.round(rssBytes.at(-1)! / 1048576)} MB`);
  }
  return { requests: sent, rssBytes, failed, restedBytes: await restedBytes(rig) };
}

async function restedBytes(rig: Rig): Promise<number> {
  await setTimeout(REST_MS);
  return (await rig.svc.call('usage')).rssBytes;
}
