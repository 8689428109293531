/**
 * The one interface of all compressors. A compressor is a pure function of a text and of
 * what is known before it; it drops whole lines or rows, or re-encodes them so that they
 * can be decoded again, and it says which.
 */
import type { Classification, TextClass } from '../model/classify/classes.ts';

export type Mode = 'strict' | 'hybrid' | 'aggressive';

/** Frozen knowledge of what is not worth compressing. The id stands for the content. */
export interface AppliedRules {
  readonly id: string;
  /** `mode class tool` of what is left alone. */
  readonly skip: readonly string[];
}

/** What a compressor may know. Nothing in here may come from after the block. */
export interface CompressContext {
  readonly mode: Mode;
  readonly classification: Classification;
  /** Words of the latest user text at or before the block; empty where there is none. */
  readonly query: string;
  /** Soft length of a narrative chunk, in characters. */
  readonly maxChars: number;
  /** Estimated tokens that a reduced log may have. */
  readonly logBudgetTokens: number;
  /** Comment ranges of source code, from `CodeTools`; absent where code is not to be touched. */
  readonly commentLines?: CommentLines;
  readonly applied?: AppliedRules;
}

/** A half-open range of zero-based line numbers. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Lines of `text` that hold nothing but a comment, and blank lines behind others that are
 * no part of a string, for source with this file extension.
 * Undefined where the language is unknown or the text does not parse. May throw
 * `GrammarNeeded`, which is no fault of the text: nothing is decided about it.
 */
export type CommentLines = (text: string, extension: string) => readonly LineRange[] | undefined;

/** What a compressor made of a text. */
export interface Compressed {
  readonly text: string;
  /** Lines of the input that are neither in the output nor encoded in it. Empty means lossless. */
  readonly removed: readonly LineRange[];
}

/** One algorithm. Returns undefined where it would change nothing. */
export interface Compressor {
  readonly name: string;
  readonly classes: readonly TextClass[];
  apply(text: string, context: CompressContext): Compressed | undefined;
}

/** True if the rules say that output of this class from this tool is left alone. */
export function isSkipped(
  rules: AppliedRules | undefined,
  mode: Mode,
  kind: TextClass,
  toolName: string | undefined,
): boolean {
  return toolName !== undefined && rules?.skip.includes(`${mode} ${kind} ${toolName}`) === true;
}

/** The number of lines in a set of ranges. */
export function countLines(ranges: readonly LineRange[]): number {
  return ranges.reduce((sum, range) => sum + range.to - range.from, 0);
}
