/** Waits for an abort signal alongside other work. */

/**
 * Returns a promise that resolves when the signal is aborted, and `close`, which stops listening.
 */
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
