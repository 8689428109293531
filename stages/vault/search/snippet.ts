/** Extracts the part of a block that shows why it was found. */
import type { Hit } from '../words/tokenize.ts';

/** Approximate length of a snippet in characters; it ends between words. */
const SNIPPET_CHARS = 240;

/** A piece of a block's text and the hits in it. */
export interface Snippet {
  readonly text: string;
  /** Line number of the start of `text` in the source file; 0 for an ingested block. */
  readonly line: number;
  /** Start and end offsets in `text` of the query's words, in order. */
  readonly hits: readonly (readonly [start: number, end: number])[];
}

/**
 * Returns the piece of `content` with the most distinct terms among `hits`; its start when there
 * are none.
 */
export function cutSnippet(content: string, hits: readonly Hit[], startLine: number): Snippet {
  const [first, last] = densest(hits);
  const from = wordStart(content, first?.start ?? 0, last?.end ?? 0);
  const to = wordEnd(content, Math.max(from + SNIPPET_CHARS, last?.end ?? 0));
  const visible = hits.filter(({ start, end }) => start >= from && end <= to);
  return {
    text: content.slice(from, to),
    line: startLine === 0 ? 0 : startLine + countLines(content, from),
    hits: visible.map(({ start, end }) => [start - from, end - from] as const),
  };
}

/**
 * Returns the run of hits within one snippet's length that covers most terms; the earliest of
 * equals.
 */
function densest(hits: readonly Hit[]): [Hit | undefined, Hit | undefined] {
  const inside = new Map<string, number>();
  let best: [Hit | undefined, Hit | undefined] = [undefined, undefined];
  let max = 0;
  let left = 0;
  for (const hit of hits) {
    inside.set(hit.term, (inside.get(hit.term) ?? 0) + 1);
    while (hit.end - hits[left]!.start > SNIPPET_CHARS && hits[left] !== hit) {
      const droppedTerm = hits[left++]!.term;
      const rest = inside.get(droppedTerm)! - 1;
      if (rest === 0) inside.delete(droppedTerm);
      else inside.set(droppedTerm, rest);
    }
    if (inside.size > max) [max, best] = [inside.size, [hits[left], hit]];
  }
  return best;
}

/**
 * Returns an offset shortly before `start`: the start of its line if near, otherwise between words.
 */
function wordStart(content: string, start: number, end: number): number {
  const spare = Math.max(0, SNIPPET_CHARS - (end - start));
  const earliest = Math.max(0, start - Math.floor(spare / 2));
  const line = content.lastIndexOf('\n', start - 1) + 1;
  if (line >= earliest || earliest === 0) return Math.min(line, start);
  const blank = content.indexOf(' ', earliest);
  return blank === -1 || blank >= start ? start : blank + 1;
}

function wordEnd(content: string, end: number): number {
  if (end >= content.length) return content.length;
  const cut = content.slice(0, end).search(/\s\S*$/);
  // A text without spaces is cut anywhere, but never inside a surrogate pair.
  if (cut !== -1 && cut > end - 40) return cut;
  const code = content.charCodeAt(end);
  return code >= 0xdc00 && code <= 0xdfff ? end + 1 : end;
}

function countLines(content: string, end: number): number {
  let lines = 0;
  for (let at = content.indexOf('\n'); at !== -1 && at < end; at = content.indexOf('\n', at + 1)) {
    lines++;
  }
  return lines;
}
