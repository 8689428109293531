/** The content of a vault: blocks, each a piece of a file or a text ingested at run time. */

/**
 * How a block may be used. `safe` blocks may be sent to a provider; every other class stays on the
 * machine: `secret` (appears to contain a credential), `generated` (machine-written: lock files,
 * minified code, "do not edit"), or any name given to an ingested block.
 */
export type RiskClass = string;

/** The only class that may leave the machine. */
export const SAFE: RiskClass = 'safe';

/** A block without its text. Lines count from 1, inclusive; an ingested block has `0, 0`. */
export interface BlockInfo {
  readonly id: string;
  /** Relative to `root`, with `/`; for an ingested block as given by its sender. */
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

/** Source of a block: enough to check on it later. */
export type BlockSource = Pick<BlockInfo, 'id' | 'root' | 'sourcePath'>;

/** A block as described in the log: everything but its text, and the text's position. */
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
  /** Distinct terms separated by spaces; a count above one follows its term as `!n`. */
  readonly terms: string;
}
