/**
 * What nobody caught. From the code of a provider it is that provider's fault, and the proxy goes
 * on without it. Anything else is a fault of ours: after it nothing is certain any more, so the
 * proxy ends, once what it has still to write down is written.
 */
import { SvcError } from '../../engine/error.ts';
import type { PluginWatch } from '../../server/index.ts';
import type { CliContext } from '../context.ts';

export type Strays = ReturnType<typeof catchStrays>;

/** Listens from now on. A provider's fault goes to `watch`. */
export function catchStrays({ events }: CliContext, watch: PluginWatch) {
  let end: (thrown: unknown) => void = () => undefined;
  const fault = new Promise<never>((_resolve, reject) => {
    end = (thrown) =>
      reject(new SvcError('internal', `svc failed: ${stackOf(thrown)}`, { cause: thrown }));
  });
  // It is only of interest to whoever waits for the start.
  fault.catch(() => undefined);
  const heard = (thrown: unknown): void => {
    if (!watch.take(thrown)) end(thrown);
  };
  events.on('uncaughtException', heard);
  return {
    /** Rejects with the first fault of ours, for as long as nothing else was asked to end the proxy. */
    fault,
    /** From now on `end` is called for each. */
    onFault(then: (thrown: unknown) => void): void {
      end = then;
    },
    /** Leaves what nobody catches to the process again. */
    release: (): void => void events.off('uncaughtException', heard),
  };
}

/** What was thrown, with where it came from if that is known. */
export function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}
