/** Finds the model of a request whose body is not parsed. */
import { modelInPath } from '../model/target.ts';
import { createPathScanner } from './json-path.ts';
import type { ByteSpan } from './json-path.ts';
import type { BodyFrame } from '../model/body.ts';
import { isPlain } from '../model/headers.ts';

/** Longer than any model's name, and short enough to be parsed for each request. */
const MAX_SCALAR_BYTES = 1_000;

const scan = createPathScanner([['model']]);

/** Returns the model named by the path or the body; undefined if neither names one. */
export function unreadModel(body: BodyFrame): string | undefined {
  const inPath = modelInPath(body.target);
  if (inPath !== undefined || !isPlain(body)) return inPath;
  const [model] = spansOf(body.bytes, scan) ?? [];
  const named = scalarAt(body.bytes, model);
  return typeof named === 'string' ? named : undefined;
}

/**
 * Returns the spans; undefined if the body is not scannable JSON, which its provider will report.
 */
export function spansOf(
  bytes: Buffer,
  scanner: (bytes: Buffer) => readonly (ByteSpan | undefined)[],
): readonly (ByteSpan | undefined)[] | undefined {
  try {
    return scanner(bytes);
  } catch {
    return undefined;
  }
}

/** Returns the short value at `span`; undefined for a long or missing one. */
export function scalarAt(bytes: Buffer, span: ByteSpan | undefined): unknown {
  if (span === undefined || span.end - span.start > MAX_SCALAR_BYTES) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8', span.start, span.end)) as unknown;
  } catch {
    return undefined;
  }
}
