/**
 * The false-fact test: every sent line is in the input, or decodes to lines that are. The remainder
 * was added by us, and must be only markers.
 */
import { keptLines } from '../../stages/compress/decode/kept-lines.ts';
import type { ConversationBlock } from '../../stages/compress/pass/blocks.ts';
import {
  compressConversation,
  emptyState,
  type ConversationOptions,
} from '../../stages/compress/pass/conversation.ts';
import { splitPasted } from '../../stages/compress/pass/user-text.ts';
import { printCompact, readJson } from '../../stages/compress/rules/json/lexer.ts';
import { textsInJson } from '../../stages/compress/rules/json/texts.ts';
import { jsonWithin } from '../../stages/compress/rules/json/within.ts';
import { cleanLine } from '../../stages/compress/rules/log/clean.ts';
import { stampLength } from '../../stages/compress/rules/log/score.ts';
import { chunkText } from '../../stages/compress/rules/narrative/chunks.ts';
import { openEnvelope } from '../../stages/model/classify/envelope.ts';

/** A sent line that is neither a line of the input nor decodes to one. */
export interface StrangeLine {
  readonly block: number;
  readonly line: string;
}

/** Returns the lines of a compressed conversation that are not in its input. Must be empty. */
export function strangeLines(
  blocks: readonly ConversationBlock[],
  options: ConversationOptions,
): { readonly kept: number; readonly strange: readonly StrangeLine[] } {
  const state = emptyState();
  let kept = 0;
  const outcomes = compressConversation(blocks, options, undefined, state);
  const strange = outcomes.flatMap((outcome, at) => {
    const lines = keptLines(outcome, state, blocks[at]!);
    kept += lines.length;
    const isKnown = knownLines(blocks[at]!.text, outcome.by, options.maxChars);
    return lines.filter((line) => !isKnown(line)).map((line) => ({ block: outcome.index, line }));
  });
  return { kept, strange };
}

/**
 * Returns a test for whether a line is in the input: unchanged, as a terminal shows it, or as
 * compact JSON. Only prose and overlong log lines are ever cut, and only at a boundary in the
 * input: the parts between two gaps must be whole pieces of one text.
 */
export function knownLines(
  before: string,
  by: readonly string[],
  maxChars: number,
): (line: string) => boolean {
  const carried = by.includes('texts') ? textsInJson(before) : undefined;
  const texts = carried?.texts.map(({ text }) => text) ?? [];
  const lines = [before, ...texts].flatMap((text) => text.split('\n'));
  const known = new Set([...lines, ...lines.map(cleanLine)]);
  if (carried !== undefined) known.add(carried.frame);
  const bodies = [before, openEnvelope(before).body, splitPasted(before).body, ...texts];
  for (const text of bodies.flatMap((body) => [body, jsonWithin(body)?.body ?? body])) {
    const json = readJson(text);
    if (json !== undefined) for (const line of printCompact(json).split('\n')) known.add(line);
  }
  const isProse = by.includes('narrative') ? proseTest(bodies, maxChars) : undefined;
  const isCut = by.includes('log-reduce') ? cutTest(lines) : undefined;
  return (line) =>
    known.has(line) ||
    isDiffHeader(line, before) ||
    isProse?.(line) === true ||
    isCut?.(line) === true;
}

/**
 * Tests for whole sentences of a text, with `…` for omitted ones: each piece begins and ends at a
 * sentence or line boundary.
 */
function proseTest(bodies: readonly string[], maxChars: number): (line: string) => boolean {
  const texts = bodies.map((text) => ({ text, ...seamsOf(text, maxChars) }));
  const isWhole = (piece: string): boolean =>
    texts.some(({ text, starts, ends }) => {
      for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + 1))
        if (starts.has(at) && ends.has(at + piece.length)) return true;
      return false;
    });
  return (line) =>
    line
      .split(/…(?: |$)/)
      .map((piece) => piece.trim())
      .every((piece) => piece === '' || isWhole(piece));
}

/** Returns where the chunks and the lines of a text begin and end. */
function seamsOf(
  text: string,
  maxChars: number,
): { readonly starts: ReadonlySet<number>; readonly ends: ReadonlySet<number> } {
  const starts = new Set<number>();
  const ends = new Set<number>();
  const note = (from: number, piece: string): void => {
    starts.add(from + piece.length - piece.trimStart().length);
    ends.add(from + piece.trimEnd().length);
  };
  let at = 0;
  for (const chunk of chunkText(text, maxChars)) {
    note(at, chunk.text);
    at += chunk.text.length + chunk.space.length;
  }
  at = 0;
  for (const line of text.split('\n')) {
    note(at, line);
    at += line.length + 1;
  }
  return { starts, ends };
}

/** Lines up to this length are never cut by log reduction. */
const WHOLE_CHARS = 1600;

/**
 * Tests for a shortened log line: pieces of one line of the input, in order. The first begins where
 * that line does, with or after its time stamp, and the last ends where it does; otherwise a sign
 * marks the omission.
 */
function cutTest(lines: readonly string[]): (line: string) => boolean {
  const long = lines.filter((line) => line.length >= WHOLE_CHARS).map(cleanLine);
  return (line) => {
    const pieces = line.split(/… |…$/);
    if (pieces.length < 2) return false;
    return long.some((bare) => {
      let from = [0, stampLength(bare)].find((at) => bare.startsWith(pieces[0]!, at)) ?? -1;
      if (from < 0 || !bare.endsWith(pieces.at(-1)!)) return false;
      return pieces.every((piece) => {
        const at = bare.indexOf(piece, from);
        from = at + piece.length;
        return at >= 0;
      });
    });
  };
}

/**
 * True for `*** p` in place of two header lines of the input, and for shortened hunk numbers
 * (`diff.test.ts` proves them right).
 */
function isDiffHeader(line: string, before: string): boolean {
  const path = /^\*\*\* (.+?)(?: \((?:new|deleted) file mode \d+\))?$/.exec(line)?.[1];
  if (path !== undefined) return before.includes(`diff --git a/${path} b/${path}`);
  return before.includes('\n@@ -') && /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/.test(line);
}
