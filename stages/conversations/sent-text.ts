/**
 * What went out for a block, written down by how it differs from what came in: whoever repeats it has
 * the original at hand. Lines of the original are named by their numbers, the rest is compressed with
 * the original's beginning as a dictionary.
 */
import { hash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** As far back as the compression looks. */
const WINDOW_BYTES = 32 * 1024;
/** Shorter originals are the dictionary as a whole, and their lines need no names. */
const MIN_NAMED_CHARS = 24 * 1024;
const HASH_CHARS = 12;
/** A text as it came. */
export const RAW = '';

/** Tells texts apart, in 72 bits. */
export function textHash(text: string): string {
  return hash('sha1', text, 'base64url').slice(0, HASH_CHARS);
}

/** `sent` in place of `original`; `RAW` where nothing was changed. */
export function writeSent(original: string, sent: string): string {
  if (sent === original) return RAW;
  const named = original.length < MIN_NAMED_CHARS ? sent : nameLines(original, sent);
  const packed = deflateRawSync(Buffer.from(named), { dictionary: dictionaryOf(original) });
  return `${textHash(sent)}${packed.toString('base64')}`;
}

/** The text that `writeSent` wrote down; undefined where it cannot be had from this original. */
export function readSent(original: string, written: string): string | undefined {
  if (written === RAW) return original;
  try {
    const packed = Buffer.from(written.slice(HASH_CHARS), 'base64');
    const named = inflateRawSync(packed, { dictionary: dictionaryOf(original) }).toString('utf8');
    const sent = original.length < MIN_NAMED_CHARS ? named : withLines(original, named);
    return isSent(written, sent) ? sent : undefined;
  } catch {
    return undefined;
  }
}

/** True if `written` stands for `text`, which is not the original. */
export function isSent(written: string, text: string): boolean {
  return written !== RAW && written.startsWith(textHash(text));
}

function dictionaryOf(original: string): Buffer {
  return Buffer.from(original.slice(0, WINDOW_BYTES)).subarray(0, WINDOW_BYTES);
}

/** A line that names others begins with this; one of the text that does so too gets another before it. */
const MARK = '\u0001';

/** Runs of lines that stand in the original too, each as the number of its first line and their count. */
function nameLines(original: string, sent: string): string {
  const lines = original.split('\n');
  const at = new Map<string, number>();
  lines.forEach((line, number) => {
    if (!at.has(line)) at.set(line, number);
  });
  const written = sent.split('\n');
  const out: string[] = [];
  let next = 0;
  for (let here = 0; here < written.length;) {
    // Most that is kept goes on where the last of it ended, also where an earlier line is the same.
    const from = lines[next] === written[here] ? next : at.get(written[here]!);
    let count = 0;
    if (from !== undefined)
      while (here + count < written.length && lines[from + count] === written[here + count])
        count += 1;
    if (from !== undefined && count > 0) {
      out.push(`${MARK}${from},${count}`);
      here += count;
      next = from + count;
      continue;
    }
    const line = written[here]!;
    out.push(line.startsWith(MARK) ? `${MARK}${line}` : line);
    here += 1;
  }
  return out.join('\n');
}

function withLines(original: string, named: string): string {
  const lines = original.split('\n');
  return named
    .split('\n')
    .flatMap((line) => {
      if (!line.startsWith(MARK)) return [line];
      if (line.startsWith(MARK + MARK)) return [line.slice(1)];
      const [from = 0, count = 0] = line.slice(1).split(',').map(Number);
      return lines.slice(from, from + count);
    })
    .join('\n');
}
