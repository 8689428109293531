/**
 * Finds a JSON document among other lines, which a shell or a client puts before or after a
 * command's output.
 */
import type { Envelope } from '../../../model/classify/envelope.ts';
import { looksLikeJson } from '../../../model/classify/shapes.ts';
import { readJson } from './lexer.ts';

/** Lines at either end within which the document may begin and end. */
const EDGE_LINES = 20;
/** Maximum number of documents that are parsed to the end, which limits the work. */
const MAX_ATTEMPTS = 4;
/** Minimum share of the text that the document must make up. */
const MIN_SHARE = 0.5;
const MIN_LINES = 3;

/**
 * Returns the document, one value or one a line; undefined if there is none, or nothing around it.
 */
export function jsonWithin(text: string): Envelope | undefined {
  let attempts = 0;
  for (const cut of cuts(text)) {
    if (cut.body.length < text.length * MIN_SHARE || !looksLikeJson(cut.body)) continue;
    if (cut.prefix === '' && cut.suffix.trim() === '') return undefined;
    if (isJson(cut.body)) return cut;
    if (++attempts === MAX_ATTEMPTS) return undefined;
  }
  return undefined;
}

function isJson(text: string): boolean {
  if (readJson(text) !== undefined) return true;
  const lines = text.trimEnd().split('\n');
  return lines.length >= MIN_LINES && lines.every((line) => readJson(line) !== undefined);
}

const OPENING_LINE = /^\s*[[{]/;
const CLOSING_LINE = /[\]}]\s*$/;

/** Yields the cuts of a text before an opening line and after a closing one, the longest first. */
function* cuts(text: string): Generator<Envelope> {
  const starts = lineStarts(text);
  const lineAt = (at: number): string => {
    const from = starts[at]!;
    const to = (starts[at + 1] ?? text.length + 1) - 1;
    return to - from > 400
      ? text.slice(from, from + 200) + text.slice(to - 200, to)
      : text.slice(from, to);
  };
  const last = starts.length - 1;
  for (let from = 0; from <= Math.min(EDGE_LINES, last); from++) {
    if (!OPENING_LINE.test(lineAt(from))) continue;
    for (let to = last; to >= Math.max(from, last - EDGE_LINES); to--) {
      if (!CLOSING_LINE.test(lineAt(to))) continue;
      const end = (starts[to + 1] ?? text.length + 1) - 1;
      yield {
        prefix: text.slice(0, starts[from]),
        body: text.slice(starts[from], end),
        suffix: text.slice(end),
      };
    }
  }
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
