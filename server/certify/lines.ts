/**
 * Lines as certificates compare them: without the number that a viewer prints before a line, without
 * the blanks around it. What is shorter than a dozen characters (`}`, `return;`) says nothing of its source.
 */
import { openEnvelope } from '../../stages/model/classify/envelope.ts';
import type { Block } from '../../stages/model/block.ts';
import { printCompact, readJson } from '../../stages/compress/rules/json/lexer.ts';

/** Fewer characters are in too many texts to be a quotation of one of them. */
const LEAST_CHARS = 12;
/** A line is compared by so many characters; longer ones are data, which nobody writes out again. */
const MOST_CHARS = 2000;
const GUTTER = /^\s*\d{1,7}(?:→|\t|: |:|-|\| ?| {2})/;

// oxlint-disable-next-line no-control-regex -- colours begin with an escape
const COLOURS = /\u001b\[[\d;]*m/g;

/** The line as it is compared, without the colours that a terminal would show; undefined for one that says too little. */
export function comparable(line: string): string | undefined {
  if (line.length > MOST_CHARS) return undefined;
  const bare = line.replaceAll(COLOURS, '').replace(GUTTER, '').trim();
  return bare.length < LEAST_CHARS ? undefined : bare;
}

/** All lines of a text that are compared. */
export function comparableLines(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => comparable(line) ?? []);
}

/** What the model wrote in a block, in lines: its words, and every text in the input of a call. */
export function writtenLines(block: Pick<Block, 'text' | 'toolInput'>): readonly string[] {
  if (block.toolInput === undefined) return comparableLines(block.text);
  try {
    return textsIn(JSON.parse(block.toolInput)).flatMap(comparableLines);
  } catch {
    // Input that is no JSON is text.
    return comparableLines(block.toolInput);
  }
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** True where both are the same JSON, whatever its layout. */
export function isSameJson(before: string, decoded: string): boolean {
  const [one, other] = [readJson(openEnvelope(before).body), readJson(openEnvelope(decoded).body)];
  return one !== undefined && other !== undefined && printCompact(one) === printCompact(other);
}
