/**
 * Handles uncaught errors. If the error comes from a provider's code, the proxy continues without
 * that provider. Any other is a fault of svc itself, after which the state is uncertain: the proxy
 * ends once pending data is written.
 */
import { SvcError } from '../../engine/error.ts';
import type { PluginWatch } from '../../server/index.ts';
import type { CliContext } from '../context.ts';

export type UncaughtErrors = ReturnType<typeof catchUncaughtErrors>;

/** Starts handling. A provider's fault is passed to `watch`. */
export function catchUncaughtErrors({ events }: CliContext, watch: PluginWatch) {
  let end: (thrown: unknown) => void = () => undefined;
  const fault = new Promise<never>((_resolve, reject) => {
    end = (thrown) =>
      reject(new SvcError('internal', `svc failed: ${stackOf(thrown)}`, { cause: thrown }));
  });
  // Only a caller that waits for the start is interested in it.
  fault.catch(() => undefined);
  const onUncaught = (thrown: unknown): void => {
    if (!watch.take(thrown)) end(thrown);
  };
  events.on('uncaughtException', onUncaught);
  return {
    /** Rejects with the first fault of ours, as long as nothing else ends the proxy. */
    fault,
    /** Sets the function called for each later fault. */
    onFault(then: (thrown: unknown) => void): void {
      end = then;
    },
    /** Leaves uncaught errors to the process again. */
    release: (): void => void events.off('uncaughtException', onUncaught),
  };
}

/** Returns an error with its stack if known. */
export function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}
