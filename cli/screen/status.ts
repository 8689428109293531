/** The state of a home folder's proxy, and its display. */
import { runningInstance } from '../process/daemon.ts';
import { counted, dollars, figure, pairs } from './output.ts';
import type { Colors } from './output.ts';
import { controlIfRunning, readOwn } from '../remote.ts';
import type { Json } from '../remote.ts';
import type { MissReportJson } from '../../stages/ledger/miss-json.ts';
import { retriesOf } from './retries.ts';
import { uncompressedOf, uncompressedLines } from './uncompressed.ts';

/** `svc status --json`. */
export type Status = Awaited<ReturnType<typeof readStatus>>;

/** Reads the pid file, the control socket and the proxy itself. */
export async function readStatus(home: string, withPromptCache = false) {
  const instance = runningInstance(home);
  // A hanging proxy is still running, as the pid file shows.
  const own = await controlIfRunning(home, 'status').catch(() => undefined);
  const url = instance?.url;
  const cachePaths = withPromptCache ? ['/cache-stats', '/savings/misses'] : [];
  const paths = ['/health', '/recent', '/traces', ...cachePaths];
  const [health, recent, traces, caches, misses] =
    own === undefined ? [] : await Promise.all(paths.map((path) => readOrUndefined(home, path)));
  const pid = own?.['pid'] ?? instance?.pid;
  return {
    running: own !== undefined || instance !== undefined,
    pid: typeof pid === 'number' ? pid : null,
    background: instance?.background ?? null,
    home,
    url: url ?? null,
    ws_url: instance?.wsUrl ?? null,
    paused: typeof own?.['paused'] === 'boolean' ? own['paused'] : null,
    log_level: typeof own?.['log_level'] === 'string' ? own['log_level'] : null,
    /** Requests in progress. */
    active_requests: typeof own?.['running'] === 'number' ? own['running'] : null,
    /** Body of `/health`; null if it cannot be read. */
    health: health ?? null,
    /** Rows of `/recent`, newest first. */
    recent: listOf(recent?.['recent']),
    /** Recent retries, newest first. */
    retries: retriesOf(listOf(traces?.['traces'])),
    /** Why recent requests were sent uncompressed, most frequent reason first. */
    not_compressed: uncompressedOf(listOf(traces?.['traces'])),
    /** What providers read from their own prompt caches; only if requested. */
    ...(withPromptCache && {
      prompt_cache: (caches?.['prompt_cache'] ?? null) as Json | null,
      /** Losses from cache misses, by cause. */
      cache_misses: (misses ?? null) as MissReportJson | null,
    }),
  };
}

/** Returns the lines of `svc status` for a running proxy. */
export function statusLines(status: Status, colors: Colors): string[] {
  const { health } = status;
  const version = textOf(health?.['version']) ?? '';
  const state = healthText(status, colors);
  const where = status.url ?? 'starting';
  const lines = [
    `${colors.bold('svc')} ${version} is running on ${colors.cyan(where)} ${colors.dim(`(pid ${status.pid}, ${status.background === true ? 'background' : 'foreground'})`)}`,
    '',
  ];
  const rows: (readonly [string, string])[] = [['Health', state]];
  const uptime = health?.['uptime_seconds'];
  if (typeof uptime === 'number') rows.push(['Up for', span(uptime)]);
  rows.push(['Rewriting', status.paused === true ? colors.yellow('paused') : 'as configured']);
  const shared = sharedText(health);
  if (shared !== undefined) rows.push(['Shared', shared]);
  // A caller that may not see the figures gets a health without them, which does not mean zero
  // requests.
  if (health?.['stats'] !== undefined) rows.push(...figures(health, status.active_requests));
  const waiting = waitingText(health?.['compression_threads']);
  if (waiting !== undefined) rows.push(['Compressing', waiting]);
  const [first, ...others] = uncompressedLines(status.not_compressed);
  if (first !== undefined)
    rows.push(['Not compressed', first], ...others.map((one) => ['', one] as const));
  if (status.log_level === 'debug')
    rows.push(['Logging', 'every request, step by step (`svc debug off`)']);
  return [...lines, ...pairs(colors, rows)];
}

/** Formats an uptime. */
export function span(seconds: number): string {
  if (seconds < 60) return counted(Math.floor(seconds), 'second');
  if (seconds < 3600) return counted(Math.floor(seconds / 60), 'minute');
  if (seconds < 172_800)
    return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return counted(Math.floor(seconds / 86_400), 'day');
}

/** Describes waiting jobs, and how to have more threads; undefined if none wait. */
function waitingText(threads: unknown): string | undefined {
  const { most, jobs_waiting: jobs } = (threads ?? {}) as Json;
  if (typeof most !== 'number' || typeof jobs !== 'number' || jobs === 0) return undefined;
  const wait = jobs === 1 ? '1 request waits' : `${jobs} requests wait`;
  return `${wait} for ${counted(most, 'thread')}; compression.workers allows more`;
}

function healthText({ health, url }: Status, colors: Colors): string {
  if (health === null) return url === null ? 'starting' : colors.red('does not answer over HTTP');
  if (health['status'] === 'ok') return colors.green('ok');
  const reasons = Array.isArray(health['reasons']) ? health['reasons'].join('; ') : '';
  return `${colors.yellow(textOf(health['status']) ?? 'unknown')}${reasons === '' ? '' : `: ${reasons}`}`;
}

/** Describes where state is shared; undefined if it is not. */
function sharedText(health: Json | null): string | undefined {
  const shared = health?.['shared'];
  if (typeof shared !== 'object' || shared === null) return undefined;
  const { state, place } = shared as Json;
  const where = `Redis at ${textOf(place) ?? 'an unknown place'}`;
  return state === 'up' ? `limits and cache through ${where}` : `nothing while ${where} is away`;
}

function figures(health: Json, active: number | null): (readonly [string, string])[] {
  const stats = (health['stats'] ?? {}) as Json;
  const latency = (health['latency'] ?? {}) as Json;
  const number = (value: unknown) => (typeof value === 'number' ? value : undefined);
  const errors = number(stats['errors']) ?? 0;
  const requests = counted(number(stats['requests']) ?? 0, 'request');
  const running = active !== null && active > 0 ? `, ${active} running` : '';
  const failed = errors === 0 ? '' : `, ${counted(errors, 'error')}`;
  const rows: (readonly [string, string])[] = [['This session', `${requests}${failed}${running}`]];
  const tokens = [number(stats['input_tokens']), number(stats['output_tokens'])];
  if ((number(stats['requests']) ?? 0) === 0) return rows;
  rows.push([
    'Tokens',
    tokens
      .map((one, index) => `${one?.toLocaleString('en-US') ?? '–'} ${index === 0 ? 'in' : 'out'}`)
      .join(', '),
  ]);
  const added = number(stats['tokens_added']) ?? 0;
  const net = ['tokens_added', 'net_tokens_saved'].map((name) => figure(stats[name]));
  const prices = ['cost_added', 'net_cost_saved'].map((name) => dollars(stats[name]));
  if (added > 0) {
    rows.push(['Added', `${net[0]} tokens of your files, ${prices[0]}`]);
    rows.push(['Net saving', `${net[1]} tokens, ${prices[1]}`]);
  }
  rows.push(['Cost', costText(number(stats['cost']), number(stats['unpriced']) ?? 0)]);
  const p50 = number(latency['p50_latency_ms']);
  const p99 = number(latency['p99_latency_ms']);
  if (p50 !== undefined && p99 !== undefined)
    rows.push([
      'Latency',
      `${Math.round(p50)} ms median, ${Math.round(p99)} ms p99, upstream included`,
    ]);
  return rows;
}

function costText(cost: number | undefined, unpriced: number): string {
  const known = cost === undefined ? 'unknown' : dollars(cost);
  if (unpriced === 0) return known;
  // Includes the cure, since users do not expect that a price can be set.
  const missing = `${counted(unpriced, 'request')} without a known price; providers.<name>.pricing sets one`;
  return cost === undefined ? `${known}: ${missing}` : `${known}, and ${missing}`;
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

async function readOrUndefined(home: string, path: string): Promise<Json | undefined> {
  return readOwn(home, path).catch(() => undefined);
}
