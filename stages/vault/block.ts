/** What a vault holds: blocks, each a piece of a file or a text that was handed in at run time. */

/**
 * How a block may be used. `safe` blocks may be sent to a provider; every other class
 * stays on the machine: `secret` (looks as if it held a credential), `generated`
 * (machine-written: lock files, minified code, "do not edit"), or any name that an
 * ingested block came with.
 */
export type RiskClass = string;

/** The class that may leave the machine. */
export const SAFE: RiskClass = 'safe';

/** A block without its text. Lines count from 1, both ends included; an ingested block has `0, 0`. */
export interface BlockInfo {
  readonly id: string;
  /** Relative to `root`, with `/`; for an ingested block whatever its sender gave. */
  readonly sourcePath: string;
  /** The indexed folder, absolute; empty for an ingested block. */
  readonly root: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly riskClass: RiskClass;
  /** SHA-256 of the content, hex. */
  readonly hash: string;
  readonly rawTokens: number;
}

/** Where a block is from: enough to tell later what became of it. */
export type BlockSource = Pick<BlockInfo, 'id' | 'root' | 'sourcePath'>;

/** A block as the log describes it: everything but its text, and where the text stands. */
export interface StoredBlock {
  readonly id: string;
  readonly from: number;
  readonly to: number;
  readonly risk: RiskClass;
  readonly hash: string;
  readonly tokens: number;
  /** Length in terms, at least 1. */
  readonly length: number;
  /** The text's JSON string: offset from the start of the record's text part, and size. */
  readonly at: number;
  readonly bytes: number;
  /** Distinct terms with blanks between; a count above one follows its term as `!n`. */
  readonly terms: string;
}
