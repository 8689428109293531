/** The signals that end a long-running command: Ctrl-C, and the end of its terminal or session. */
import type { CliContext } from '../context.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Calls `end` for each of them; the returned function stops listening. */
export function onEnd({ events }: Pick<CliContext, 'events'>, end: () => void): () => void {
  for (const signal of SIGNALS) events.on(signal, end);
  return () => {
    for (const signal of SIGNALS) events.off(signal, end);
  };
}
