/**
 * The dashboard on a terminal: follows the proxy, handles keys, draws, and restores the terminal.
 */
import { emitKeypressEvents } from 'node:readline';
import type { Readable } from 'node:stream';
import type {
  LiveRows,
  ReportJson,
  OneRequestJson,
  RequestsJson,
} from '../../server/dashboard/contract.ts';
import { withLog } from '../../server/dashboard/page/feed-events.ts';
import { IDLE_MS, pauseAfter } from '../../server/dashboard/page/pace.ts';
import { sinceMsOf } from '../../server/dashboard/page/frame/ranges.ts';
import { mergeRequests } from '../../server/dashboard/page/requests/request-list.ts';
import { toReachableUrl } from '../address.ts';
import type { CliContext } from '../context.ts';
import { runningInstance } from '../process/daemon.ts';
import { onEnd } from '../process/signals.ts';
import { colorsFor, withUserCommands } from '../screen/output.ts';
import { readOwn } from '../remote.ts';
import { followEvents } from './feed.ts';
import { renderScreen } from './render.ts';
import { press } from './keys.ts';
import type { Key } from './keys.ts';
import type { Model } from './model.ts';
import { firstModel } from './model.ts';
import { openScreen } from './screen.ts';

/** Events within this time are drawn together. */
const DRAW_MS = 40;
const MAX_ROWS = 500;

/** A terminal's key input; a stream that is not a terminal has no raw mode. */
export type KeyInput = Readable & { setRawMode?(isRaw: boolean): unknown };

/** Shows the dashboard until the user or the terminal ends it. */
export async function showDashboard(context: CliContext, home: string): Promise<void> {
  const { clock, events, stdout, version, program } = context;
  const stdin = context.stdin as KeyInput;
  const colors = colorsFor(stdout, context.env);
  const abort = new AbortController();
  const timers = new Set<() => void>();
  let model = firstModel({ version, program, url: urlOf(home), nowMs: clock.wallMs() });
  let height = 1;

  const screen = openScreen(stdout);
  const change = (part: Partial<Model>): void => {
    model = { ...model, ...part };
    draw();
  };
  const later = (ms: number, act: () => void): (() => void) => {
    let isSet = false;
    return () => {
      if (isSet || abort.signal.aborted) return;
      isSet = true;
      const stop = clock.after(ms, () => {
        timers.delete(stop);
        isSet = false;
        act();
      });
      timers.add(stop);
    };
  };
  const drawNow = (): void => {
    if (abort.signal.aborted) return;
    model = { ...model, nowMs: clock.wallMs() };
    const rendered = renderScreen(model, screen.size(), colors);
    model = { ...model, scroll: rendered.scroll };
    height = rendered.height;
    screen.draw(rendered.lines);
  };
  const draw = later(DRAW_MS, drawNow);
  const ask = async <T>(path: string, take: (json: T) => void): Promise<void> => {
    try {
      const json = await readOwn<T>(home, path);
      if (!abort.signal.aborted) take(json);
    } catch {
      // The feed reports connection problems, and everything is requested again once it is back.
    }
  };
  const query = (more: Readonly<Record<string, string>> = {}): string => {
    const sinceMs = sinceMsOf(model.range, clock.wallMs());
    const since = sinceMs > 0 ? { since: new Date(sinceMs).toISOString() } : {};
    return new URLSearchParams({ ...since, ...more }).toString();
  };
  /** One request at a time; the next waits as long as this one took, and longer without events. */
  let stopReport: (() => void) | undefined;
  let isAsking = false;
  let hasUpdates = false;
  let isFirst = true;
  let reportAtMs = 0;
  const readReport = async (): Promise<void> => {
    const { range } = model;
    isAsking = true;
    hasUpdates = false;
    const startedMs = clock.monotonicMs();
    await ask<ReportJson>(`/dashboard/api/report?${query()}`, (report) => {
      if (range === model.range) change({ report });
    });
    isAsking = false;
    const nowMs = clock.monotonicMs();
    // The first response also waits for what the proxy loads on first use.
    const tookMs = isFirst ? 0 : nowMs - startedMs;
    isFirst = false;
    // Another range was chosen meanwhile: its figures are still missing.
    reportAtMs = range === model.range ? nowMs + pauseAfter(tookMs) : nowMs;
    planReport();
  };
  const planReport = (): void => {
    if (isAsking || abort.signal.aborted) return;
    stopReport?.();
    const isWanted = hasUpdates || model.report === undefined;
    const waitMs = isWanted ? Math.max(0, reportAtMs - clock.monotonicMs()) : IDLE_MS;
    stopReport = clock.after(waitMs, () => void readReport());
  };
  const reportNow = (): void => {
    reportAtMs = 0;
    hasUpdates = true;
    planReport();
  };
  const readRequests = (): void => {
    const { range, failedOnly } = model;
    const params = query({ limit: String(MAX_ROWS), ...(failedOnly && { failed: '1' }) });
    void ask<RequestsJson>(`/dashboard/api/requests?${params}`, ({ requests }) => {
      if (range === model.range && failedOnly === model.failedOnly) change({ requests });
    });
  };
  const readDetail = async (id: string): Promise<void> => {
    const show = (part: Partial<NonNullable<Model['detail']>>): void => {
      if (model.detail?.id === id) change({ detail: { id, ...part } });
    };
    try {
      const path = `/dashboard/api/request/${encodeURIComponent(id)}`;
      show({ json: await readOwn<OneRequestJson>(home, path) });
    } catch (thrown) {
      show({ error: thrown instanceof Error ? thrown.message : String(thrown) });
    }
  };
  const takeRows = ({ requests }: LiveRows): void => {
    change({
      requests: mergeRequests(requests.toReversed(), model.requests ?? []).slice(0, MAX_ROWS),
    });
    hasUpdates = true;
    planReport();
  };

  const onKey = (_text: unknown, key: Key): void => {
    const before = model;
    const after = press(model, key, height);
    if (after === 'quit') {
      abort.abort();
      return;
    }
    change(after);
    if (after.range !== before.range) {
      change({ report: undefined, requests: undefined });
      reportNow();
      readRequests();
    } else if (after.failedOnly !== before.failedOnly) {
      change({ requests: undefined });
      readRequests();
    }
    if (
      after.detail !== undefined &&
      after.detail !== before.detail &&
      after.detail.json === undefined
    )
      void readDetail(after.detail.id);
  };
  const onResize = (): void => {
    screen.clear();
    drawNow();
  };
  const quit = (): void => abort.abort();
  const restoreTerminal = (): void => {
    stdin.setRawMode?.(false);
    screen.leave();
  };

  emitKeypressEvents(stdin);
  stdin.setRawMode?.(true);
  stdin.on('keypress', onKey);
  for (const name of ['end', 'close', 'error']) stdin.on(name, quit);
  stdout.on('resize', onResize);
  const stopListening = onEnd(context, quit);
  // However the process ends, the terminal must not be left without a cursor.
  events.on('exit', restoreTerminal);
  stdin.resume();
  drawNow();
  try {
    await followEvents(
      home,
      clock,
      {
        opened() {
          // Earlier log lines are sent again after a reconnect.
          change({ connection: 'live', connectionProblem: [], logLines: [], url: urlOf(home) });
          reportNow();
          readRequests();
        },
        lost: (problem) =>
          change({
            connection: 'lost',
            connectionProblem: problem.map((line) => withUserCommands(line, context)),
          }),
        state: (live) => change({ live }),
        rows: takeRows,
        log: (log) => change({ logLines: withLog(model.logLines, log) }),
      },
      abort.signal,
    );
  } finally {
    for (const stop of timers) stop();
    stopReport?.();
    stdin.off('keypress', onKey);
    for (const name of ['end', 'close', 'error']) stdin.off(name, quit);
    stdout.off('resize', onResize);
    stopListening();
    events.off('exit', restoreTerminal);
    restoreTerminal();
    stdin.pause();
  }
}

/** Returns the address of a home folder's proxy. */
export function urlOf(home: string): string | null {
  const url = runningInstance(home)?.url;
  return url === undefined ? null : toReachableUrl(url);
}
