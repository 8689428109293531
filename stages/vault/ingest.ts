/** Blocks that are handed in at run time: what one must look like, and its record in the log. */
import { SvcError } from '../../engine/error.ts';
import { isObject, jsonTypeOf } from '../dialect/json-kind.ts';
import type { JsonObject } from '../dialect/json-kind.ts';
import { missingField, wrongType } from '../model/errors.ts';
import { SAFE, type BlockInfo, type RiskClass } from './block.ts';
import { describeBlock } from './read/read-file.ts';
import { encodeBlocks } from './log/record.ts';
import { contentRisk } from './risk/risk.ts';
import type { Tokenizer } from './words/tokenize.ts';

/** Larger texts should be files in an indexed folder, where they are cut into blocks. */
const MAX_CONTENT_CHARS = 1_048_576;

/** A block to add. */
export interface IngestBlock {
  /** Made from the content when absent. */
  readonly id?: string;
  readonly content: string;
  /** Where it is from, in the sender's words; empty when absent. */
  readonly sourcePath?: string;
  /** `safe` when absent; a block that looks as if it held a credential is `secret` whatever was asked. */
  readonly riskClass?: RiskClass;
}

/** What became of one block. */
export type IngestResult =
  | { readonly ok: true; readonly id: string; readonly tokens: number; readonly stored: boolean }
  | { readonly ok: false; readonly error: SvcError };

/** A block that is ready to be written. */
export interface PreparedBlock extends Pick<BlockInfo, 'id' | 'hash' | 'riskClass' | 'sourcePath'> {
  readonly tokens: number;
  readonly record: Buffer;
}

/** What counts of a block that is in the vault already, or is about to be. */
export type HeldBlock = Pick<BlockInfo, 'hash' | 'riskClass' | 'sourcePath' | 'root'>;

/**
 * Reads a context block as the wire has it (specification 2.11: `block_id`, `content`,
 * `source_path`, `risk_class`; only `content` has to be there). Throws VALIDATION_002 and
 * VALIDATION_003, `unprocessable` for values out of range, `payload_too_large`.
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

/** The block's record. */
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
 * What has to be written for `blocks`, and what becomes of each, in order. `prepared` are
 * the same blocks; `held` gives what the vault has under an id.
 */
export function settle(
  blocks: readonly IngestBlock[],
  prepared: readonly PreparedBlock[],
  held: (id: string) => HeldBlock | undefined,
  tokenizer: Tokenizer,
): { records: readonly Buffer[]; results: readonly IngestResult[] } {
  const own = new Map<string, HeldBlock>();
  const records: Buffer[] = [];
  const results = prepared.map((one, at): IngestResult => {
    const { id, tokens } = one;
    const known = own.get(id) ?? held(id);
    const next = known === undefined ? one : reconcile(blocks[at]!, one, known, tokenizer);
    if (next instanceof SvcError) return { ok: false, error: next };
    if (next === undefined) return { ok: true, id, tokens, stored: false };
    own.set(id, { ...next, root: '' });
    records.push(next.record);
    return { ok: true, id, tokens, stored: true };
  });
  return { records, results };
}

/**
 * What has to be written for a block whose id the vault knows already: nothing when it says
 * nothing new, a record that takes the old one's place when it comes with a stricter class
 * or from another path. A class is never loosened by this, and a path that is not given
 * stays. A `conflict` for another content, and for a class that a file's block has not.
 */
function reconcile(
  block: IngestBlock,
  { id, hash, riskClass }: PreparedBlock,
  held: HeldBlock,
  tokenizer: Tokenizer,
): PreparedBlock | SvcError | undefined {
  if (hash !== held.hash) {
    return new SvcError('conflict', `Block '${id}' exists with different content`);
  }
  const strictest = stricter(held.riskClass, riskClass);
  if (held.root !== '') {
    if (strictest === held.riskClass) return undefined;
    return new SvcError('conflict', `Block '${id}' is part of a file in ${held.root}`, {
      cure: 'Ingest it under an id of its own, or leave the file out of the index.',
    });
  }
  const sourcePath = block.sourcePath ?? held.sourcePath;
  if (strictest === held.riskClass && sourcePath === held.sourcePath) return undefined;
  return prepareBlock({ ...block, id, sourcePath, riskClass: strictest }, tokenizer);
}

/** Of two classes that must not be sent the newer one stays, unless the older says it is a secret. */
function stricter(held: RiskClass, given: RiskClass): RiskClass {
  return given === SAFE || held === 'secret' ? held : given;
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
