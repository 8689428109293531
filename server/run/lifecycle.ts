/**
 * Shuts a proxy down: no new requests, time for running ones to finish, pending data is written,
 * then everything closes.
 */
import { Cancelled } from '../../engine/index.ts';
import type { Clock } from '../../engine/index.ts';
import type { App } from '../app.ts';
import type { Listener } from '../http/listen.ts';
import type { ServerServices } from '../services.ts';

/** Longest that running requests may take to finish. */
const DRAIN_MS = 30_000;
/** Interval at which the drain checks whether the last run has ended. */
const POLL_MS = 20;

export interface LifecycleOptions {
  readonly app: App;
  readonly listeners: readonly Listener[];
  readonly services: ServerServices;
  readonly clock: Clock;
  /** Closes everything else: WebSocket connections, the control socket. */
  readonly closeOthers: () => Promise<void>;
}

export function createLifecycle(options: LifecycleOptions) {
  const { app, listeners, services, clock, closeOthers } = options;
  let stopping: Promise<void> | undefined;
  let forced = false;

  function abortAll(): void {
    app.running.abortAll(new Cancelled('shutdown'));
  }

  async function waitForDrain(): Promise<void> {
    const untilMs = clock.monotonicMs() + DRAIN_MS;
    while (app.running.size > 0 && !forced && clock.monotonicMs() < untilMs) {
      await new Promise<void>((resolve) => setTimeout(resolve, POLL_MS));
    }
    abortAll();
    // An aborted run still settles and writes its row.
    while (app.running.size > 0 && clock.monotonicMs() < untilMs + 1000) {
      await new Promise<void>((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  async function shutDown(): Promise<void> {
    app.drain();
    services.log.info('draining', { running: app.running.size });
    await waitForDrain();
    const closed = Promise.all(listeners.map((listener) => listener.close()));
    await closeOthers();
    for (const listener of listeners) listener.destroy();
    await closed;
    services.log.info('stopped');
    services.audit.add({ kind: 'proxy', event: 'stopped', details: {} });
    await services.close();
  }

  let resolveStopped: (shutDown: Promise<void>) => void = () => undefined;
  const stopped = new Promise<void>((resolve) => (resolveStopped = resolve));
  // The caller of `stop` sees the failure too.
  stopped.catch(() => undefined);

  return {
    /** Settles like `stop`, whatever caused the shutdown. */
    stopped,
    /**
     * Drains and closes. A second call, or `force`, aborts running requests at once. Resolves when
     * everything is closed.
     */
    stop(force: boolean = false): Promise<void> {
      if (stopping !== undefined || force) forced = true;
      if (stopping === undefined) {
        stopping = shutDown();
        resolveStopped(stopping);
      }
      return stopping;
    },
  };
}
