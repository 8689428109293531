/**
 * Turns one file into the bytes of its record: read, classified, split, counted. This is the work
 * of the worker threads; it depends only on its arguments.
 */
import { hash as digest } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { estimateTokens } from '../../model/tokens.ts';
import type { StoredBlock } from '../block.ts';
import { cutAtMarks, toLines, type Mark, type Piece } from './chunk.ts';
import { passwordRowsIn, type LineRange } from '../risk/credential-lists.ts';
import { hasGrammar, type Grammars } from './grammar.ts';
import { layoutMarks, proseMarks } from './marks.ts';
import { encodeBlocks, encodeNotice } from '../log/record.ts';
import { contentRisk, isGenerated, privateKeysIn } from '../risk/risk.ts';
import type { Tokenizer } from '../words/tokenize.ts';
import type { FoundFile, SkipReason } from './walk.ts';

/** A file to read, with its hash in the vault, if any. */
export interface FileTask extends FoundFile {
  readonly root: string;
  readonly knownHash: string | undefined;
}

/** Result for a file; `record` is empty when there is nothing to write. */
export interface FileResult {
  readonly outcome: 'indexed' | 'touched' | SkipReason;
  readonly record: Buffer;
  readonly blocks: number;
}

/** A reader's state across files. */
export interface ReadContext {
  readonly tokenizer: Tokenizer;
  /** Absent: code is split by its layout. */
  readonly grammars: Grammars | undefined;
  /** Wall time, for the record. */
  readonly nowMs: () => number;
}

const PROSE = new Set(['', 'md', 'mdx', 'markdown', 'rst', 'txt', 'text', 'adoc', 'org', 'tex']);
const DATA = new Set(
  'json jsonl ndjson yaml yml toml csv tsv xml svg html htm log lock cfg conf properties'.split(
    ' ',
  ),
);
/** Bytes inspected to tell text from binary data, as many as git inspects. */
const SNIFF_BYTES = 8_000;

/** Reads one file. Never throws because of the file itself; an unreadable one is an outcome. */
export async function readOne(task: FileTask, reading: ReadContext): Promise<FileResult> {
  let bytes: Buffer;
  const seenMs = reading.nowMs();
  try {
    bytes = readFileSync(join(task.root, task.path));
  } catch {
    return skip(task, 'unreadable');
  }
  const hash = sha256(bytes);
  const { root, path, size, mtimeMs } = task;
  if (hash === task.knownHash) {
    const record = encodeNotice({ record: 'touch', root, path, size, mtimeMs, seenMs });
    return { outcome: 'touched', record, blocks: 0 };
  }
  const text = decode(bytes);
  if (text === undefined) return skip(task, 'binary');
  const lines = toLines(text);
  const pieces = cutAtMarks(lines, await marksOf(path, lines, text, reading.grammars));
  if (pieces.length === 0) return skip(task, 'empty');
  const judged = {
    generated: isGenerated(path.slice(path.lastIndexOf('/') + 1), text),
    secret: [
      ...privateKeysIn(text, lines),
      ...passwordRowsIn(text, lines),
      ...secretLines(pieces, lines, path),
    ],
  };
  const blocks = toBlocks(task, pieces, judged, reading.tokenizer);
  const record = encodeBlocks({ record: 'file', root, path, hash, size, mtimeMs, seenMs }, blocks);
  return { outcome: 'indexed', record, blocks: blocks.length };
}

/**
 * Describes a block's text for the log. The words of `path` count as part of it, so that its file
 * name finds the block.
 */
export function describeBlock(
  content: string,
  path: string,
  tokenizer: Tokenizer,
): Pick<StoredBlock, 'hash' | 'tokens' | 'length' | 'terms'> {
  const counted = tokenizer.count(content, path);
  return {
    hash: sha256(content),
    tokens: estimateTokens(content),
    length: Math.max(1, counted.length),
    terms: counted.terms,
  };
}

/** Returns the SHA-256 hash in hex. */
export function sha256(data: string | Buffer): string {
  return digest('sha256', data, 'hex');
}

/** Properties that only the whole file shows. */
interface FileRisk {
  readonly generated: boolean;
  /** Lines whose blocks are all secret. */
  readonly secret: readonly LineRange[];
}

/**
 * Returns lines split into several pieces that contain a credential, as the cut may go through it.
 */
function secretLines(
  pieces: readonly Piece[],
  lines: readonly string[],
  path: string,
): LineRange[] {
  const found: LineRange[] = [];
  for (const [index, { startLine: line, endLine }] of pieces.entries()) {
    const isCut = line === endLine && pieces[index + 1]?.startLine === line;
    if (!isCut || pieces[index - 1]?.startLine === line) continue;
    if (contentRisk(lines[line - 1]!, path) === 'secret') found.push({ from: line, to: line });
  }
  return found;
}

function toBlocks(
  task: FileTask,
  pieces: readonly Piece[],
  { generated, secret }: FileRisk,
  tokenizer: Tokenizer,
): { block: Omit<StoredBlock, 'at' | 'bytes'>; content: string }[] {
  const seen = new Map<string, number>();
  return pieces.map(({ content, startLine, endLine }) => {
    const described = describeBlock(content, task.path, tokenizer);
    const repeat = seen.get(described.hash) ?? 0;
    seen.set(described.hash, repeat + 1);
    const isInside = secret.some(({ from, to }) => startLine <= to && endLine >= from);
    const risk = isInside ? 'secret' : contentRisk(content, task.path);
    return {
      block: {
        id: sha256(`${task.root}\0${task.path}\0${described.hash}\0${repeat}`).slice(0, 20),
        from: startLine,
        to: endLine,
        risk: risk === 'safe' && generated ? 'generated' : risk,
        ...described,
      },
      content,
    };
  });
}

async function marksOf(
  path: string,
  lines: readonly string[],
  text: string,
  grammars: Grammars | undefined,
): Promise<readonly Mark[]> {
  const extension = extname(path).slice(1).toLowerCase();
  if (PROSE.has(extension)) return proseMarks(lines);
  if (DATA.has(extension)) return [];
  const parsed = hasGrammar(extension) ? await grammars?.marks(extension, text) : undefined;
  return parsed ?? layoutMarks(lines);
}

/**
 * Decodes the bytes as text; undefined for binary data. A byte order mark decides, otherwise UTF-8
 * is assumed.
 */
function decode(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes.toString('utf16le', 2);
  if (bytes.subarray(0, SNIFF_BYTES).includes(0)) return undefined;
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  return bytes.toString('utf8', start);
}

/**
 * Skips a file. One known to the vault is dropped from it, unless its content could not be read.
 */
function skip({ root, path, knownHash }: FileTask, outcome: SkipReason): FileResult {
  const isOver = knownHash !== undefined && outcome !== 'unreadable';
  const record = isOver ? encodeNotice({ record: 'drop', root, path }) : Buffer.alloc(0);
  return { outcome, record, blocks: 0 };
}
