/** Observers that have been given an answer, for tests. */
import type { Dialect, UsageObserver } from '../model/dialect.ts';

/** One that was given the parts and asked nothing meanwhile. */
export function observe(
  dialect: Dialect,
  streaming: boolean,
  parts: readonly Buffer[],
): UsageObserver {
  const observer = dialect.observeUsage(streaming);
  for (const part of parts) observer.push(part);
  return observer;
}

/** One that looked at each part when it came: what is not asked for may be looked at together. */
export function observeEach(dialect: Dialect, streaming: boolean, parts: readonly Buffer[]) {
  const observer = dialect.observeUsage(streaming);
  for (const part of parts) {
    observer.push(part);
    if (streaming) observer.terminated();
  }
  return observer;
}

/** Each byte a part of its own. */
export function bytesOf(buffer: Buffer): Buffer[] {
  return Array.from(buffer, (_, i) => buffer.subarray(i, i + 1));
}
