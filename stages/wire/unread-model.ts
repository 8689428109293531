/** The model that a request is for whose body nobody parses. */
import { modelInPath } from '../model/target.ts';
import { createPathScanner } from './json-path.ts';
import type { ByteSpan } from './json-path.ts';
import type { BodyFrame } from '../model/body.ts';
import { isPlain } from '../model/headers.ts';

/** Longer than any model's name, and short enough to be parsed for each request. */
const MAX_SCALAR_BYTES = 1_000;

const scan = createPathScanner([['model']]);

/** The model that the path or the body names; undefined where neither does. */
export function unreadModel(body: BodyFrame): string | undefined {
  const inPath = modelInPath(body.target);
  if (inPath !== undefined || !isPlain(body)) return inPath;
  const [model] = spansOf(body.bytes, scan) ?? [];
  const named = scalarAt(body.bytes, model);
  return typeof named === 'string' ? named : undefined;
}

/** Undefined where the body is no JSON that can be walked, which its provider will say. */
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

/** The short value at `span`; undefined for a long one, and where there is none. */
export function scalarAt(bytes: Buffer, span: ByteSpan | undefined): unknown {
  if (span === undefined || span.end - span.start > MAX_SCALAR_BYTES) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8', span.start, span.end)) as unknown;
  } catch {
    return undefined;
  }
}
