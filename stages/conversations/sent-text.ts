/**
 * Stores the text sent for a block as its difference from the received text, which is at hand
 * whenever the block is repeated. Lines of the original are referred to by number; the rest is
 * compressed with the original's beginning as a dictionary.
 */
import { hash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** The window of DEFLATE. */
const WINDOW_BYTES = 32 * 1024;
/** Originals shorter than this mostly fit the dictionary, so their lines need no references. */
const MIN_REFERENCED_CHARS = 24 * 1024;
const HASH_CHARS = 12;
/** Stands for an unmodified text. */
export const RAW = '';

/** Returns a 72-bit hash of a text. */
export function textHash(text: string): string {
  return hash('sha1', text, 'base64url').slice(0, HASH_CHARS);
}

/** Encodes `sent` relative to `original`; `RAW` if they are equal. */
export function writeSent(original: string, sent: string): string {
  if (sent === original) return RAW;
  const encoded = original.length < MIN_REFERENCED_CHARS ? sent : encodeLines(original, sent);
  const packed = deflateRawSync(Buffer.from(encoded), { dictionary: dictionaryOf(original) });
  return `${textHash(sent)}${packed.toString('base64')}`;
}

/** Decodes what `writeSent` returned; undefined if it does not belong to this original. */
export function readSent(original: string, written: string): string | undefined {
  if (written === RAW) return original;
  try {
    const packed = Buffer.from(written.slice(HASH_CHARS), 'base64');
    const encoded = inflateRawSync(packed, { dictionary: dictionaryOf(original) }).toString('utf8');
    const sent = original.length < MIN_REFERENCED_CHARS ? encoded : decodeLines(original, encoded);
    return isSent(written, sent) ? sent : undefined;
  } catch {
    return undefined;
  }
}

/** Returns true if `written` encodes `text`, which is not the original. */
export function isSent(written: string, text: string): boolean {
  return written !== RAW && written.startsWith(textHash(text));
}

function dictionaryOf(original: string): Buffer {
  return Buffer.from(original.slice(0, WINDOW_BYTES)).subarray(0, WINDOW_BYTES);
}

/**
 * Starts a line that refers to others; a text line that starts with it gets a second one as an
 * escape.
 */
const REFERENCE_MARK = '\u0001';

/** Replaces runs of lines found in the original by the number of the first line and a count. */
function encodeLines(original: string, sent: string): string {
  const lines = original.split('\n');
  const at = new Map<string, number>();
  lines.forEach((line, number) => {
    if (!at.has(line)) at.set(line, number);
  });
  const written = sent.split('\n');
  const out: string[] = [];
  let next = 0;
  for (let here = 0; here < written.length;) {
    // Kept lines mostly continue where the last run ended, even if an earlier line is equal.
    const from = lines[next] === written[here] ? next : at.get(written[here]!);
    let count = 0;
    if (from !== undefined)
      while (here + count < written.length && lines[from + count] === written[here + count])
        count += 1;
    if (from !== undefined && count > 0) {
      out.push(`${REFERENCE_MARK}${from},${count}`);
      here += count;
      next = from + count;
      continue;
    }
    const line = written[here]!;
    out.push(line.startsWith(REFERENCE_MARK) ? `${REFERENCE_MARK}${line}` : line);
    here += 1;
  }
  return out.join('\n');
}

function decodeLines(original: string, encoded: string): string {
  const lines = original.split('\n');
  return encoded
    .split('\n')
    .flatMap((line) => {
      if (!line.startsWith(REFERENCE_MARK)) return [line];
      if (line.startsWith(REFERENCE_MARK + REFERENCE_MARK)) return [line.slice(1)];
      const [from = 0, count = 0] = line.slice(1).split(',').map(Number);
      return lines.slice(from, from + count);
    })
    .join('\n');
}
