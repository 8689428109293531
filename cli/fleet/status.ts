/** The state of each machine of a fleet, queried at once and within a time limit. */
import { cutText } from '../../engine/truncate-text.ts';
import { SvcError } from '../../engine/error.ts';
import type { Fleet, Member } from '../../server/fleet/fleet-file.ts';
import { homeOf } from '../context.ts';
import type { CliContext } from '../context.ts';
import { runningInstance } from '../process/daemon.ts';
import { readOwn } from '../remote.ts';
import type { Json } from '../remote.ts';
import type { Members } from './members.ts';

const ANSWER_MS = 5000;
const MAX_CHARS = 200;
const MAX_REASONS = 20;

/** Figures of the current UTC day by which machines are compared. */
const TODAY = ['requests', 'errors', 'saved_tokens', 'cost', 'cost_saved'] as const;

/** One machine; null for values that it did not report. */
export interface MachineStatus {
  readonly node: string;
  /** Null for this machine if no proxy runs on it. */
  readonly url: string | null;
  readonly isThisMachine: boolean;
  readonly status: string | null;
  readonly reasons: readonly string[];
  readonly version: string | null;
  readonly uptimeSeconds: number | null;
  readonly today: Readonly<Record<(typeof TODAY)[number], number | null>> | null;
  /** Why it did not respond, or not completely. */
  readonly error: SvcError | null;
}

/** Queries every machine: this one first, if it belongs to the fleet. */
export function readStatuses(
  { node, members }: Fleet,
  memberClient: Members,
  context: CliContext,
): Promise<readonly MachineStatus[]> {
  return Promise.all([
    ...(node === null ? [] : [ownStatus(node, context)]),
    ...members.map((member) => memberStatus(member, memberClient)),
  ]);
}

function ownStatus(node: string, context: CliContext): Promise<MachineStatus> {
  const home = homeOf(context);
  const url = runningInstance(home)?.url ?? null;
  return statusOf({ node, url, isThisMachine: true }, (path) => readOwn(home, path));
}

function memberStatus(member: Member, members: Members): Promise<MachineStatus> {
  const { name: node, url } = member;
  return statusOf({ node, url, isThisMachine: false }, (path) =>
    members.ask(member, path, ANSWER_MS),
  );
}

async function statusOf(
  machine: Pick<MachineStatus, 'node' | 'url' | 'isThisMachine'>,
  ask: (path: string) => Promise<Json>,
): Promise<MachineStatus> {
  const [health, stats] = await Promise.allSettled([ask('/health'), ask('/stats')]);
  const { status, reasons, version, uptime_seconds: uptimeSeconds } = valueOf(health);
  // Its own part, if several machines share a ledger.
  const { today: ofLedger, today_of_node: ofNode = ofLedger } = valueOf(stats);
  const today = health.status === 'fulfilled' ? toToday(ofNode) : null;
  const isOurs = textOf(status) !== null && textOf(version) !== null;
  return {
    ...machine,
    status: isOurs ? textOf(status) : null,
    reasons: isOurs ? toReasons(reasons) : [],
    version: isOurs ? textOf(version) : null,
    uptimeSeconds: isOurs ? numberOf(uptimeSeconds) : null,
    today: isOurs ? today : null,
    error: errorOf(health) ?? errorOf(stats) ?? (isOurs && today !== null ? null : NOT_OURS),
  };
}

const NOT_OURS = new SvcError('bad_gateway', 'it responds, but not as an svc proxy does');

function valueOf(settled: PromiseSettledResult<Json>): Json {
  return settled.status === 'fulfilled' ? settled.value : {};
}

function errorOf(settled: PromiseSettledResult<Json>): SvcError | null {
  if (settled.status === 'fulfilled') return null;
  if (settled.reason instanceof SvcError) return settled.reason;
  throw settled.reason;
}

function toToday(value: unknown): MachineStatus['today'] {
  if (typeof value !== 'object' || value === null) return null;
  const json = value as Json;
  if (numberOf(json['requests']) === null) return null;
  const [requests, errors, saved, cost, costSaved] = TODAY.map((name) => numberOf(json[name]));
  return {
    requests: requests ?? null,
    errors: errors ?? null,
    saved_tokens: saved ?? null,
    cost: cost ?? null,
    cost_saved: costSaved ?? null,
  };
}

function toReasons(value: unknown): readonly string[] {
  return Array.isArray(value)
    ? value.slice(0, MAX_REASONS).flatMap((one: unknown) => textOf(one) ?? [])
    : [];
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? cutText(value, MAX_CHARS) : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
