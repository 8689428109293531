/**
 * Normalizes lines for comparison in certificates: without a viewer's line number and without
 * surrounding blanks. Lines under a dozen characters (`}`, `return;`) do not identify their source.
 */
import { openEnvelope } from '../../stages/model/classify/envelope.ts';
import type { Block } from '../../stages/model/block.ts';
import { printCompact, readJson } from '../../stages/compress/rules/json/lexer.ts';

/** Shorter texts are too common to count as a quotation. */
const MIN_CHARS = 12;
/** Longest line that is compared; longer ones are data, which no one copies out. */
const MAX_CHARS = 2000;
const GUTTER = /^\s*\d{1,7}(?:→|\t|: |:|-|\| ?| {2})/;

// oxlint-disable-next-line no-control-regex -- colours begin with an escape
const COLOURS = /\u001b\[[\d;]*m/g;

/**
 * Returns the line in comparable form, without terminal colours; undefined for one that is too
 * short or too long.
 */
export function normalizedLine(line: string): string | undefined {
  if (line.length > MAX_CHARS) return undefined;
  const bare = line.replaceAll(COLOURS, '').replace(GUTTER, '').trim();
  return bare.length < MIN_CHARS ? undefined : bare;
}

/** Returns all comparable lines of a text. */
export function normalizedLines(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => normalizedLine(line) ?? []);
}

/**
 * Returns the comparable lines that the model wrote in a block: its text, and every string in a
 * call's input.
 */
export function writtenLines(block: Pick<Block, 'text' | 'toolInput'>): readonly string[] {
  if (block.toolInput === undefined) return normalizedLines(block.text);
  try {
    return textsIn(JSON.parse(block.toolInput)).flatMap(normalizedLines);
  } catch {
    // Input that is not JSON is treated as text.
    return normalizedLines(block.toolInput);
  }
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** True if both are the same JSON, whatever their layout. */
export function isSameJson(before: string, decoded: string): boolean {
  const [one, other] = [readJson(openEnvelope(before).body), readJson(openEnvelope(decoded).body)];
  return one !== undefined && other !== undefined && printCompact(one) === printCompact(other);
}
