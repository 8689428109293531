/** Runs a proxy in this process: from the configuration to the end of the last request. */
import { existsSync, openSync, closeSync } from 'node:fs';
import { SvcError, isSvcError, toSvcError } from '../../engine/error.ts';
import type { LoadedConfig } from '../../server/config/load.ts';
import type { RunningProxy } from '../../server/index.ts';
import { homeOf } from '../context.ts';
import type { CliContext } from '../context.ts';
import { alreadyRuns, claimHome, runningInstance, toMessage } from './daemon.ts';
import type { Claim } from './daemon.ts';
import { banner, dashboardOf, factsOf } from './facts.ts';
import { toLoadOptions } from '../parse/flags.ts';
import type { ServeFlags } from '../parse/flags.ts';
import { openBrowser } from '../screen/browser.ts';
import { colorsFor, counted, isTerminal, note, printError } from '../screen/output.ts';
import { exitCodes } from '../exit.ts';
import { ownerOf } from './port-owner.ts';
import type { SaveWatch } from './reload-on-save.ts';
import { readJson } from '../remote.ts';
import { monitorGone } from '../monitor/record.ts';
import { catchUncaughtErrors, stackOf } from './uncaught-errors.ts';
import type { UncaughtErrors } from './uncaught-errors.ts';

/**
 * Serves until a signal or `svc stop` ends it. Resolves with the exit code: 0 after a drain, that
 * of `cancelled` if running requests were aborted.
 *
 * @throws SvcError if it cannot start; a process that started it in the background is notified
 * first.
 */
export async function runForeground(context: CliContext, flags: ServeFlags): Promise<number> {
  try {
    return await serve(context, flags);
  } catch (thrown) {
    const error = isSvcError(thrown) ? thrown : undefined;
    if (error !== undefined) context.notifyParent?.(toMessage(error));
    throw thrown;
  }
}

async function serve(context: CliContext, flags: ServeFlags): Promise<number> {
  const early = runningInstance(homeOf(context));
  if (early !== undefined) throw alreadyRuns(early);
  const [{ loadConfig }, { createPluginWatch, startProxy, logFile }] = await Promise.all([
    import('../../server/config/load.ts'),
    import('../../server/index.ts'),
  ]);
  const options = toLoadOptions(flags, context);
  const loaded = await loadConfig(options);
  let current = loaded;
  const { home } = loaded.config;
  const background = context.notifyParent !== undefined;
  const claim = claimHome(home, context, { flags, background });
  await monitorGone(home, context.clock);
  context.events.on('exit', claim.release);
  let started = false;
  let saves: SaveWatch | undefined;
  const watch = createPluginWatch();
  const uncaught = catchUncaughtErrors(context, watch);
  try {
    const starting = startProxy({
      loaded,
      watch,
      reload: async () => (current = await loadConfig(options)),
      version: context.version,
      clock: context.clock,
      onProblem(error) {
        // A file that prevents the start is reported by the caller.
        if (started || error.kind !== 'config') printError(context, error);
      },
    }).catch(async (thrown: unknown) => {
      throw await explainStart(thrown);
    });
    const proxy = await Promise.race([starting, uncaught.fault]);
    started = true;
    const { version } = context;
    const facts = factsOf(loaded, proxy, { version, logFile: logFile(home) });
    claim.listening({ url: facts.url, wsUrl: facts.wsUrl, port: proxy.port });
    if (flags.debug === true) saves = await reloadOnSave(context, proxy, () => current);
    // Handles signals before it reports readiness: a reader of that report may send one.
    const stopped = untilStopped(context, proxy, uncaught);
    if (context.notifyParent !== undefined) context.notifyParent({ ready: facts });
    else for (const line of banner(facts, context, stderrColors(context))) note(context, line);
    if (flags.dashboard === true) openBrowser(context, dashboardOf(facts.url));
    return await stopped;
  } finally {
    await saves?.close();
    uncaught.release();
    end(context, claim);
  }
}

function end(context: CliContext, claim: Claim): void {
  claim.release();
  context.events.off('exit', claim.release);
}

function stderrColors(context: CliContext) {
  return colorsFor(context.stderr, context.env);
}

/** Longest interval between the two copies of one Ctrl-C; too short for pressing it twice. */
const SAME_SIGNAL_MS = 100;

/**
 * Waits for the end: the first signal drains, the second forces, SIGHUP reloads; a fault of ours
 * and `svc stop` end the proxy like a signal. Whatever plugins leave open does not keep it alive.
 */
function untilStopped(
  context: CliContext,
  proxy: RunningProxy,
  uncaught: UncaughtErrors,
): Promise<number> {
  const ownsTerminal = isTerminal(context.stderr);
  return new Promise((resolve, reject) => {
    let signals = 0;
    let askedMs = -Infinity;
    let code: number = 0;
    const onSignal = () => {
      const nowMs = context.clock.monotonicMs();
      // One Ctrl-C arrives both from the terminal and from npm.
      if (context.isRunByNpm === true && nowMs - askedMs < SAME_SIGNAL_MS) return;
      askedMs = nowMs;
      signals += 1;
      if (signals === 1) note(context, drainLine(proxy.app.running.size));
      if (signals === 2) note(context, 'Stopping now.');
      if (signals > 1) code = exitCodes.cancelled;
      void proxy.stop(signals > 1);
    };
    uncaught.onFault((thrown) => {
      signals += 1;
      proxy.services.log.error('svc failed and is stopping', { cause: thrown });
      for (const line of `error: svc failed and is stopping: ${stackOf(thrown)}`.split('\n'))
        note(context, line);
      code = exitCodes.internal;
      void proxy.stop(signals > 1);
    });
    const onHangup = () => {
      // Without its terminal, a foreground proxy has no user left.
      if (ownsTerminal && !hasTerminal()) onSignal();
      else void reload(context, proxy);
    };
    const listeners = [
      ['SIGINT', onSignal],
      ['SIGTERM', onSignal],
      ['SIGHUP', onHangup],
    ] as const;
    for (const [event, listener] of listeners) context.events.on(event, listener);
    proxy.stopped
      .finally(() => {
        for (const [event, listener] of listeners) context.events.off(event, listener);
      })
      .then(() => resolve(code), reject);
  });
}

function drainLine(running: number): string {
  return running === 0
    ? 'Stopping…'
    : `Draining ${counted(running, 'request')} (at most 30 s)… press Ctrl-C again to stop now.`;
}

async function reload(context: CliContext, proxy: RunningProxy): Promise<void> {
  try {
    const report = await proxy.reload();
    const { message } = report as { readonly message: string };
    note(context, message);
  } catch (thrown) {
    printError(context, toSvcError(thrown));
  }
}

async function reloadOnSave(
  context: CliContext,
  proxy: RunningProxy,
  current: () => LoadedConfig,
): Promise<SaveWatch> {
  const { watchSaves } = await import('./reload-on-save.ts');
  const saves = await watchSaves(current(), (files) => {
    note(context, `${files.join(', ')} saved`);
    void reload(context, proxy).then(() => saves.follow(current()));
  });
  return saves;
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return !existsSync('/dev/tty');
  }
}

/** Returns the error for a taken port, with the process that uses it; any other error unchanged. */
async function explainStart(thrown: unknown): Promise<unknown> {
  if (!isSvcError(thrown)) return thrown;
  const cause = thrown.cause as { code?: string; port?: number } | undefined;
  const port = cause?.port;
  if (cause?.code !== 'EADDRINUSE' || port === undefined) return thrown;
  const owner = ownerOf(port);
  const pid = owner === undefined ? '' : ` (pid ${owner.pid})`;
  if (await isProxy(port)) {
    return new SvcError('conflict', `Port ${port} is taken by another svc${pid}`, {
      cause: thrown,
      cure: 'It uses another home folder: `svc stop` with that SVC_HOME stops it. Or choose another port with --port.',
    });
  }
  const who = owner === undefined ? 'another program' : `${owner.command ?? 'a process'}${pid}`;
  return new SvcError('conflict', `Port ${port} is taken by ${who}`, {
    cause: thrown,
    cure: 'Stop it, or choose another port with --port or SVC_PORT (for the WebSocket listener SVC_WS_PORT).',
  });
}

/** True if an svc proxy responds on this port. */
async function isProxy(port: number): Promise<boolean> {
  const root = await readJson(`http://127.0.0.1:${port}`, '/').catch(() => undefined);
  return root?.['name'] === 'svc';
}
