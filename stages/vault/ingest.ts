/** Blocks that are handed in at run time: what one must look like, and its record in the log. */
import { SvcError } from '../../engine/error.ts';
import { missingField, wrongType } from '../model/errors.ts';
import { SAFE, type RiskClass } from './block.ts';
import { describeBlock } from './read-file.ts';
import { encodeBlocks } from './record.ts';
import { contentRisk } from './risk.ts';
import type { Tokenizer } from './tokenize.ts';

/** Larger texts should be files in an indexed folder, where they are cut into blocks. */
export const MAX_CONTENT_CHARS = 1_048_576;

/** A block to add. */
export interface IngestBlock {
  /** Made from the content when absent. */
  readonly id?: string;
  readonly content: string;
  /** Where it is from, in the sender's words; empty when absent. */
  readonly sourcePath?: string;
  /** `safe` when absent; a block that looks as if it held a credential is `secret` whatever was said. */
  readonly riskClass?: RiskClass;
}

/** What became of one block. */
export type IngestResult =
  | { readonly ok: true; readonly id: string; readonly tokens: number; readonly stored: boolean }
  | { readonly ok: false; readonly error: SvcError };

/** A block that is ready to be written. */
export interface PreparedBlock {
  readonly id: string;
  readonly hash: string;
  readonly tokens: number;
  readonly record: Buffer;
}

/**
 * Reads a context block as the wire has it (specification 2.11: `block_id`, `content`,
 * `source_path`, `risk_class`; only `content` has to be there). Throws VALIDATION_002 and
 * VALIDATION_003, `unprocessable` for values out of range, `payload_too_large`.
 */
export function toIngestBlock(value: unknown): IngestBlock {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrongType('block', 'object', kindOf(value));
  }
  const fields = value as Record<string, unknown>;
  const id = text(fields, 'block_id');
  const sourcePath = text(fields, 'source_path');
  const riskClass = text(fields, 'risk_class');
  const content = text(fields, 'content');
  if (content === undefined) throw missingField('content');
  check(content.trim() !== '', 'content', 'must not be empty');
  if (content.length > MAX_CONTENT_CHARS) {
    throw new SvcError(
      'payload_too_large',
      `A block holds at most ${MAX_CONTENT_CHARS} characters`,
    );
  }
  check(
    id === undefined || /^[^\s\p{C}]{1,200}$/u.test(id),
    'block_id',
    'must be 1 to 200 visible characters',
  );
  check(
    sourcePath === undefined || /^\P{C}{0,1024}$/u.test(sourcePath),
    'source_path',
    'must be one line of at most 1024 characters',
  );
  check(
    riskClass === undefined || /^[a-z0-9_-]{1,32}$/i.test(riskClass),
    'risk_class',
    'must be a word of at most 32 characters',
  );
  return {
    content,
    ...(id !== undefined && { id }),
    ...(sourcePath !== undefined && { sourcePath }),
    ...(riskClass !== undefined && { riskClass: riskClass.toLowerCase() }),
  };
}

/** The block's record. */
export function prepareBlock(block: IngestBlock, tokenizer: Tokenizer): PreparedBlock {
  const path = block.sourcePath ?? '';
  const described = describeBlock(block.content, path, tokenizer);
  const id = block.id ?? `ingest-${described.hash.slice(0, 20)}`;
  const found = contentRisk(block.content);
  const risk = found === SAFE ? (block.riskClass ?? SAFE) : found;
  const stored = { id, from: 0, to: 0, risk, ...described };
  const record = encodeBlocks({ record: 'block', path }, [
    { block: stored, content: block.content },
  ]);
  return { id, hash: described.hash, tokens: described.tokens, record };
}

/** The error for an id that is taken by another content. */
export function idTaken(id: string): SvcError {
  return new SvcError('conflict', `Block '${id}' exists with different content`);
}

function text(fields: Record<string, unknown>, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw wrongType(name, 'string', kindOf(value));
  return value;
}

function check(ok: boolean, field: string, must: string): void {
  if (!ok) throw new SvcError('unprocessable', `Field '${field}' ${must}`);
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}
