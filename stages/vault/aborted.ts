/** Waiting for a signal beside something else. */

/** A promise that resolves when the signal comes, and `close`, after which the signal is let go. */
export function untilAborted(signal: AbortSignal | undefined): {
  readonly aborted: Promise<undefined>;
  close(): void;
} {
  let resolve!: () => void;
  const aborted = new Promise<undefined>((done) => {
    resolve = () => done(undefined);
  });
  signal?.addEventListener('abort', resolve, { once: true });
  return { aborted, close: () => signal?.removeEventListener('abort', resolve) };
}
