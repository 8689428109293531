/**
 * A compression rule as data: its name, the texts it applies to, and a pure function that makes
 * such a text smaller. The built-in ones are listed in `built-in.ts`; any other list of rules runs
 * in the same way (`rewrite.ts`), and every change is reported under its rule's name.
 */
import type { Classification, TextClass } from '../../model/classify/classes.ts';
import type { ClassifyHints } from '../../model/classify/hints.ts';

export type Mode = 'strict' | 'hybrid' | 'aggressive';

export interface Rule {
  /** Unique among the rules that run together; shown in traces and in `svc diff`. */
  readonly name: string;
  readonly when: When;
  readonly step: Step;
  readonly endings?: Endings;
  /** True for a rule that may prevent others which save more. It then does not run. */
  readonly isOptional?: boolean;
  /** Matches lines that stay verbatim once the rule has changed a text, whichever rules follow. */
  readonly keeps?: (line: string) => boolean;
  /** Like `Apply`; may also return why it leaves a text alone. */
  readonly apply: (text: string, context: CompressContext) => ReturnType<Apply> | Skipped;
}

/**
 * The texts that a rule applies to. Every given condition must hold; in a list one member is
 * enough. An unknown property of a text (no command, no path) meets no condition.
 */
export interface When {
  readonly class: readonly TextClass[];
  /** Default: `hybrid` and `aggressive`; `strict` rewrites nothing even if listed. */
  readonly mode?: readonly Mode[];
  /** A program that the command ran, after any launcher: `pytest` in `poetry run pytest`. */
  readonly program?: readonly string[];
  /** Matched against the shell command that printed the text. */
  readonly command?: Search;
  /** Matched against the tool's name. */
  readonly tool?: Search;
  /** Matched against the path of the file that was read. */
  readonly path?: Search;
  /** Called with the origin of the text: true if the rule leaves it alone. */
  readonly unless?: (hints: ClassifyHints) => boolean;
  /** The language, as a file extension in lower case without the dot. */
  readonly extension?: readonly string[];
  /** Called last, with the text itself. */
  readonly content?: (text: string) => boolean;
}

/** A pattern or a predicate. */
export type Search = RegExp | ((text: string) => boolean);

/** Rules run in this order whatever their list; within a step, in list order. */
export const STEPS = ['clean', 'drop', 'encode'] as const;
export type Step = (typeof STEPS)[number];

/**
 * Who ensures that lines which state how a command ended stay verbatim. `own`: the rule. `checked`,
 * the default: a result without one of them is discarded. `checked-unless-expected`: likewise,
 * except for a text of the class that its command normally prints, such as search hits, which has
 * no such lines.
 */
export type Endings = 'own' | 'checked' | 'checked-unless-expected';

/**
 * Makes a text smaller; returns undefined if it would change nothing. Whole lines or rows are
 * dropped, with a marker (`joinKept`), or are encoded decodably; none is changed inside. If it
 * throws, only its saving on this text is lost. Must be a pure function.
 */
export type Apply = (text: string, context: CompressContext) => Compressed | undefined;

/** The context a rule receives. None of it may depend on anything after the block. */
export interface CompressContext {
  readonly mode: Mode;
  readonly classification: Classification;
  /** Words of the latest user text at or before the block; empty if there is none. */
  readonly query: string;
  /** The question of the call that the text answers; absent if it has none. */
  readonly callQuery?: string;
  /** The shell command that printed the text; absent if none did. */
  readonly call?: string;
  /** True if the client, or the text's envelope, says that the command failed. */
  readonly isFailed?: boolean;
  /** Soft length of a narrative chunk, in characters. */
  readonly maxChars: number;
  /** Maximum number of estimated tokens of a reduced log. */
  readonly logBudgetTokens: number;
  /**
   * True for prose that no later text refers to (a vault capsule): its runs of equal lines may be
   * folded.
   */
  readonly foldsProse?: boolean;
  /** Comment ranges of source code, from `CodeTools`; absent if code must not be changed. */
  readonly commentLines?: CommentLines;
}

/** Result of a rule. */
export interface Compressed {
  readonly text: string;
  /** Lines of the input that are neither in the output nor encoded in it. Empty means lossless. */
  readonly removed: readonly LineRange[];
}

/** Why a rule that applies to a text leaves it alone; shown in the trace. */
export interface Skipped {
  readonly skipped: string;
}

/** A half-open range of zero-based line numbers. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the lines of `text` that hold only a comment, and blank lines after others that are not
 * part of a string, for source with this file extension. Undefined if the language is unknown or
 * the text does not parse. May throw `GrammarNeeded`, which is not a fault of the text: it stays
 * undecided.
 */
export type CommentLines = (text: string, extension: string) => readonly LineRange[] | undefined;
