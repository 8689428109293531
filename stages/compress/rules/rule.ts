/**
 * A rule of compression, as data: what it is called, which texts it is for, and a pure
 * function that makes one of them smaller. The built-in ones are listed in
 * `built-in.ts`; any other list of rules runs in the same way (`rewrite.ts`), and every change
 * is reported under its rule's name.
 */
import type { Classification, TextClass } from '../../model/classify/classes.ts';
import type { ClassifyHints } from '../../model/classify/hints.ts';

export type Mode = 'strict' | 'hybrid' | 'aggressive';

export interface Rule {
  /** Unique among the rules that run together; stands in traces and in `svc diff`. */
  readonly name: string;
  readonly when: When;
  readonly step: Step;
  readonly endings?: Endings;
  /** True for one that may stand in the way of others that save more: where they do, it does not run. */
  readonly isOptional?: boolean;
  /** Lines that stay to the letter where the rule has changed a text, whatever rule comes behind it. */
  readonly keeps?: (line: string) => boolean;
  /** Like `Apply`; may also say why it leaves a text alone. */
  readonly apply: (text: string, context: CompressContext) => ReturnType<Apply> | Skipped;
}

/**
 * The texts that a rule is for. Every condition that is given must hold; of a list one
 * member is enough. What is not known of a text (no command, no path) meets no condition.
 */
export interface When {
  readonly class: readonly TextClass[];
  /** Where left out, `hybrid` and `aggressive`; `strict` rewrites nothing, whatever stands here. */
  readonly mode?: readonly Mode[];
  /** A program that the command ran, behind whatever started it: `pytest` of `poetry run pytest`. */
  readonly program?: readonly string[];
  /** Searched for in the shell command that printed the text. */
  readonly command?: Search;
  /** Searched for in the name of the tool. */
  readonly tool?: Search;
  /** Searched for in the path of the file that was read. */
  readonly path?: Search;
  /** Asked of where the text came from: true for one that the rule leaves alone. */
  readonly unless?: (hints: ClassifyHints) => boolean;
  /** The language, as a file extension in lower case without the dot. */
  readonly extension?: readonly string[];
  /** Asked last, of the text itself. */
  readonly content?: (text: string) => boolean;
}

/** A pattern, or a function that decides. */
export type Search = RegExp | ((text: string) => boolean);

/** Rules run in this order, whatever list they stand in; those of one step as they are listed. */
export const STEPS = ['clean', 'drop', 'encode'] as const;
export type Step = (typeof STEPS)[number];

/**
 * Who sees to the lines of a printed text that state how its command ended, which stay to the
 * letter. `own`: the rule. `checked`, the default: a result without one of them is not used.
 * `checked-unless-expected`: the same, but for a text of the class that its command prints by
 * nature, such as hits of a search, which has no such lines.
 */
export type Endings = 'own' | 'checked' | 'checked-unless-expected';

/**
 * Makes a text smaller; undefined where it would change nothing. Whole lines or rows go, with
 * a marker (`joinKept`), or are encoded so that they can be decoded again; none is changed
 * inside. A rule that throws costs its saving on this text alone. Must be a pure function.
 */
export type Apply = (text: string, context: CompressContext) => Compressed | undefined;

/** What a rule may know. Nothing in here may come from after the block. */
export interface CompressContext {
  readonly mode: Mode;
  readonly classification: Classification;
  /** Words of the latest user text at or before the block; empty where there is none. */
  readonly query: string;
  /** What the call asked for that the text answers; absent where it says none. */
  readonly asked?: string;
  /** The shell command that printed the text; absent where none did. */
  readonly call?: string;
  /** True where the client, or what stands around the text, says that the command failed. */
  readonly isFailed?: boolean;
  /** Soft length of a narrative chunk, in characters. */
  readonly maxChars: number;
  /** Estimated tokens that a reduced log may have. */
  readonly logBudgetTokens: number;
  /** True where prose that nobody refers to later, a capsule of the vault, may have equal lines in a row folded. */
  readonly foldsProse?: boolean;
  /** Comment ranges of source code, from `CodeTools`; absent where code is not to be touched. */
  readonly commentLines?: CommentLines;
}

/** What a rule made of a text. */
export interface Compressed {
  readonly text: string;
  /** Lines of the input that are neither in the output nor encoded in it. Empty means lossless. */
  readonly removed: readonly LineRange[];
}

/** Why a rule that was meant for a text leaves it alone: for the trace. */
export interface Skipped {
  readonly skipped: string;
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
