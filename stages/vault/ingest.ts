/** Blocks ingested at run time: their validation, and their log records. */
import { SvcError } from '../../engine/error.ts';
import { isObject, jsonTypeOf } from '../dialect/json-kind.ts';
import type { JsonObject } from '../dialect/json-kind.ts';
import { missingField, wrongType } from '../model/errors.ts';
import { SAFE, type BlockInfo, type RiskClass } from './block.ts';
import { describeBlock } from './read/read-file.ts';
import { encodeBlocks } from './log/record.ts';
import { contentRisk } from './risk/risk.ts';
import type { Tokenizer } from './words/tokenize.ts';

/** Larger texts should be files in an indexed folder, where they are split into blocks. */
const MAX_CONTENT_CHARS = 1_048_576;

/** A block to add. */
export interface IngestBlock {
  /** Derived from the content when absent. */
  readonly id?: string;
  readonly content: string;
  /** Source as named by the sender; empty when absent. */
  readonly sourcePath?: string;
  /** `safe` when absent; a block that appears to contain a credential is always `secret`. */
  readonly riskClass?: RiskClass;
}

/** Result for one block. */
export type IngestResult =
  | { readonly ok: true; readonly id: string; readonly tokens: number; readonly stored: boolean }
  | { readonly ok: false; readonly error: SvcError };

/** A block ready to be written. */
export interface PreparedBlock extends Pick<BlockInfo, 'id' | 'hash' | 'riskClass' | 'sourcePath'> {
  readonly tokens: number;
  readonly record: Buffer;
}

/** The relevant part of a block that the vault has, or is about to have. */
export type ExistingBlock = Pick<BlockInfo, 'hash' | 'riskClass' | 'sourcePath' | 'root'>;

/**
 * Parses a context block in wire form (specification 2.11: `block_id`, `content`, `source_path`,
 * `risk_class`; only `content` is required). Throws VALIDATION_002 and VALIDATION_003,
 * `unprocessable` for values out of range, `payload_too_large`.
 */
export function toIngestBlock(value: unknown): IngestBlock {
  if (!isObject(value)) throw wrongType('block', 'object', jsonTypeOf(value));
  const id = text(value, 'block_id');
  const sourcePath = text(value, 'source_path');
  const riskClass = text(value, 'risk_class');
  const content = text(value, 'content');
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

/** Builds the block's record. */
export function prepareBlock(block: IngestBlock, tokenizer: Tokenizer): PreparedBlock {
  const path = block.sourcePath ?? '';
  const described = describeBlock(block.content, path, tokenizer);
  const id = block.id ?? `ingest-${described.hash.slice(0, 20)}`;
  const found = contentRisk(block.content, path);
  const risk = found === SAFE ? (block.riskClass ?? SAFE) : found;
  const stored = { id, from: 0, to: 0, risk, ...described };
  const record = encodeBlocks({ record: 'block', path }, [
    { block: stored, content: block.content },
  ]);
  const { hash, tokens } = described;
  return { id, hash, tokens, riskClass: risk, sourcePath: path, record };
}

/**
 * Returns the records to write for `blocks`, and the result of each, in order. `prepared` are the
 * same blocks; `existing` returns the block that the vault has under an id.
 */
export function resolveIngest(
  blocks: readonly IngestBlock[],
  prepared: readonly PreparedBlock[],
  existing: (id: string) => ExistingBlock | undefined,
  tokenizer: Tokenizer,
): { records: readonly Buffer[]; results: readonly IngestResult[] } {
  const pendingBlocks = new Map<string, ExistingBlock>();
  const records: Buffer[] = [];
  const results = prepared.map((one, at): IngestResult => {
    const { id, tokens } = one;
    const known = pendingBlocks.get(id) ?? existing(id);
    const next = known === undefined ? one : reconcile(blocks[at]!, one, known, tokenizer);
    if (next instanceof SvcError) return { ok: false, error: next };
    if (next === undefined) return { ok: true, id, tokens, stored: false };
    pendingBlocks.set(id, { ...next, root: '' });
    records.push(next.record);
    return { ok: true, id, tokens, stored: true };
  });
  return { records, results };
}

/**
 * Decides what to write for a block whose id the vault already has: nothing if it adds nothing, a
 * replacement record if it has a stricter class or another path. A class is never loosened this
 * way, and an omitted path is kept. Returns a `conflict` for different content, or a class that
 * differs from that of a file's block.
 */
function reconcile(
  block: IngestBlock,
  { id, hash, riskClass }: PreparedBlock,
  existing: ExistingBlock,
  tokenizer: Tokenizer,
): PreparedBlock | SvcError | undefined {
  if (hash !== existing.hash) {
    return new SvcError('conflict', `Block '${id}' exists with different content`);
  }
  const strictest = stricter(existing.riskClass, riskClass);
  if (existing.root !== '') {
    if (strictest === existing.riskClass) return undefined;
    return new SvcError('conflict', `Block '${id}' is part of a file in ${existing.root}`, {
      cure: 'Ingest it under an id of its own, or leave the file out of the index.',
    });
  }
  const sourcePath = block.sourcePath ?? existing.sourcePath;
  if (strictest === existing.riskClass && sourcePath === existing.sourcePath) return undefined;
  return prepareBlock({ ...block, id, sourcePath, riskClass: strictest }, tokenizer);
}

/**
 * Returns the stricter class. Of two that must not be sent the newer wins, unless the older is
 * `secret`.
 */
function stricter(existing: RiskClass, given: RiskClass): RiskClass {
  return given === SAFE || existing === 'secret' ? existing : given;
}

function text(fields: JsonObject, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw wrongType(name, 'string', jsonTypeOf(value));
  return value;
}

function check(ok: boolean, field: string, must: string): void {
  if (!ok) throw new SvcError('unprocessable', `Field '${field}' ${must}`);
}
