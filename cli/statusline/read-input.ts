/** Reads what a client writes on stdin. */
import { fstatSync, readSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { objectOf } from '../../stages/dialect/json-kind.ts';

/**
 * A client writes at once and closes; a stdin that stays open is a terminal or a forgotten pipe.
 */
const READ_MS = 250;
export const MAX_CHARS = 1024 * 1024;
const STDIN = 0;

/** Resolves with the text on `stdin` after `before`, at the latest after a quarter of a second. */
export function readStream(
  stdin: Readable & { readonly isTTY?: boolean },
  before = '',
): Promise<string> {
  if (stdin.isTTY === true) return Promise.resolve(before);
  return new Promise((resolve) => {
    let text = before;
    const end = (): void => {
      clearTimeout(timer);
      stdin.removeAllListeners('data');
      stdin.pause();
      resolve(text);
    };
    const timer = setTimeout(end, READ_MS);
    stdin.setEncoding('utf8');
    stdin.on('data', (piece: string) => {
      text += piece;
      if (text.length > MAX_CHARS) end();
    });
    stdin.once('end', end);
    stdin.once('error', end);
  });
}

/**
 * Resolves with the client's document. Creating `process.stdin` takes a third of the statusline's
 * own time, so descriptor 0 is read directly, up to the end of the document. This blocks for as
 * long as a client writes nothing, so it is only for the command that `svc integrate` gives to
 * Claude Code, which always writes.
 */
export async function readDocument(): Promise<string> {
  if (fstatSync(STDIN).isCharacterDevice()) return '';
  const pieces: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const piece = Buffer.allocUnsafe(64 * 1024);
    let count: number;
    try {
      count = readSync(STDIN, piece);
    } catch {
      // A descriptor that its parent made non-blocking.
      return readStream(process.stdin, Buffer.concat(pieces).toString());
    }
    pieces.push(piece.subarray(0, count));
    bytes += count;
    const text = Buffer.concat(pieces).toString();
    if (count === 0 || bytes > MAX_CHARS || parsed(text) !== undefined) return text;
  }
}

/** Undefined if the text is not a JSON object. */
export function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? objectOf(value) : undefined;
  } catch {
    return undefined;
  }
}
