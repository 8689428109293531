/** What each class saves, and a proof for every text that nothing was lost that must not be. */
import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { stripCode } from '../../stages/compress/code.ts';
import type {
  CommentLines,
  CompressContext,
  Compressor,
} from '../../stages/compress/compressor.ts';
import { stripConfig } from '../../stages/compress/config.ts';
import { compressConversation } from '../../stages/compress/conversation.ts';
import { unpackSigns } from '../../stages/compress/diff-signs.ts';
import { groupGrep, ungroupGrep } from '../../stages/compress/grep.ts';
import { decodeJson } from '../../stages/compress/json-decode.ts';
import { compressJson } from '../../stages/compress/json-encode.ts';
import { printCompact, readJson } from '../../stages/compress/json-lexer.ts';
import { foldListing, unfoldListing } from '../../stages/compress/listing.ts';
import { SentLines } from '../../stages/compress/repeats.ts';
import type { CountTokens } from '../../stages/model/count-tokens.ts';
import { readRecords, type TextRecord } from './corpus.ts';
import {
  codeFiles,
  editSamples,
  grepSamples,
  historySamples,
  listingSamples,
  unrelatedSamples,
} from './samples.ts';

/** One row of the table. Shares are 0–1. */
export interface EncodingResult {
  readonly name: string;
  readonly texts: number;
  readonly unchanged: number;
  readonly saved: number;
  /** Texts from which something was lost that must stay. Must be 0. */
  readonly broken: number;
}

interface Item {
  readonly text: string;
  readonly extension?: string;
  /** What the saving is counted against; the text itself unless given. */
  readonly against?: string;
}

const CONTEXT: CompressContext = {
  mode: 'aggressive',
  classification: { kind: 'narrative' },
  query: '',
  maxChars: 120,
  logBudgetTokens: 3500,
};

type Holds = (item: Item, out: string) => boolean;
type Row = readonly [name: string, compressor: Compressor, items: readonly Item[], holds: Holds];

/** All rows that need no corpus, and those that do where there is one. */
export function measureEncodings(
  root: string,
  corpus: string | undefined,
  count: CountTokens,
  commentLines: CommentLines,
): readonly EncodingResult[] {
  return [...storedRows(corpus), ...madeRows(root)]
    .filter(([, , items]) => items.length > 0)
    .map((row) => measure(row, count, commentLines));
}

function storedRows(corpus: string | undefined): readonly Row[] {
  const texts = (file: string): readonly Item[] =>
    corpus === undefined ? [] : readRecords<TextRecord>(join(corpus, 'text', `${file}.jsonl`));
  const json = texts('json').map(({ text }) => ({ text }));
  const uniform = json.filter(({ text }) => isUniform(text));
  const pretty = uniform.map(({ text }) => ({
    text,
    against: JSON.stringify(JSON.parse(text), null, 2),
  }));
  const compact = uniform.map(({ text }) => ({ text, against: printCompact(readJson(text)!) }));
  const config = texts('config').map(({ text }) => ({ text }));
  return [
    ['json, all, as found', compressJson, json, sameJson],
    ['json, uniform records, vs pretty', compressJson, pretty, sameJson],
    ['json, uniform records, vs compact', compressJson, compact, sameJson],
    ['config, aggressive', stripConfig, config, sameValues],
  ];
}

function madeRows(root: string): readonly Row[] {
  const code = codeFiles(root, 20).map((path) => ({
    text: readFileSync(path, 'utf8'),
    extension: extname(path).slice(1),
  }));
  return [
    ['grep', groupGrep, grepSamples(root), ({ text }, out) => (ungroupGrep(out) ?? out) === text],
    [
      'listings',
      foldListing,
      listingSamples(root),
      ({ text }, out) => (unfoldListing(out) ?? out) === text,
    ],
    ['diffs of edits', asToolResult, editSamples(root), sameChanges],
    ['diffs, commits of this repository', asToolResult, historySamples(root), sameChanges],
    ['diffs between unrelated files', asToolResult, unrelatedSamples(root), sameChanges],
    ['code, aggressive', stripCode, code, sameNames],
  ];
}

function measure(
  [name, compressor, items, holds]: Row,
  count: CountTokens,
  commentLines: CommentLines,
): EncodingResult {
  let before = 0;
  let after = 0;
  let unchanged = 0;
  let broken = 0;
  for (const item of items) {
    const kind = item.extension === undefined ? 'narrative' : 'code';
    const classification = {
      kind,
      ...(item.extension === undefined ? {} : { extension: item.extension }),
    } as const;
    const made =
      compressor.apply(item.text, { ...CONTEXT, classification, commentLines })?.text ?? item.text;
    const out = count(made) > count(item.text) ? item.text : made;
    before += count(item.against ?? item.text);
    after += count(out);
    if (out === item.text) unchanged++;
    if (!holds(item, out)) broken++;
  }
  return {
    name,
    texts: items.length,
    unchanged,
    saved: before === 0 ? 0 : 1 - after / before,
    broken,
  };
}

/** A list of five or more objects that have the same keys; records, not documents: 1,500 characters a row at most. */
function isUniform(text: string): boolean {
  const value: unknown = JSON.parse(text);
  if (!Array.isArray(value) || value.length < 5) return false;
  if (JSON.stringify(value).length > 1500 * value.length) return false;
  const shapes = value.map((row) =>
    typeof row === 'object' && row !== null ? Object.keys(row).join() : '',
  );
  return shapes[0] !== '' && shapes.every((shape) => shape === shapes[0]);
}

function sameJson({ text }: Item, out: string): boolean {
  const node = readJson(text);
  if (node === undefined) return out === text;
  return (decodeJson(out) ?? printCompact(readJson(out)!)) === printCompact(node);
}

/** A diff as it goes out when a tool has printed it: by its class, and with what it says twice named. */
const asToolResult: Compressor = {
  name: 'tool result',
  classes: ['diff'],
  apply(text, { maxChars, logBudgetTokens }) {
    const settings = { mode: 'hybrid', maxChars, logBudgetTokens, thresholdTokens: 0 } as const;
    const block = { index: 0, role: 'user', kind: 'tool_result', text } as const;
    const toolInput = { command: 'git diff' };
    const [outcome] = compressConversation([{ ...block, toolInput }], settings);
    return outcome === undefined ? undefined : { text: outcome.text, removed: outcome.removed };
  },
};

/** The + and − lines of source, in order; those of generated files are counted instead. */
function sameChanges({ text }: Item, out: string): boolean {
  const changes = (diff: string): readonly string[] =>
    diff.split('\n').filter((line) => /^[+-](?![+-]{2} (?:a\/|b\/|\/dev))/.test(line));
  const decoded = unpackSigns(new SentLines().restore(out));
  return out.includes('generated file: ') || isDeepStrictEqual(changes(decoded), changes(text));
}

function sameNames({ text, extension }: Item, out: string): boolean {
  const comment =
    extension === 'py' || extension === 'sh' ? /^\s*#.*$/gm : /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;
  const kept = new Set(out.match(/[A-Za-z_]\w*/g));
  return (text.replace(comment, '').match(/[A-Za-z_]\w*/g) ?? []).every((name) => kept.has(name));
}

function sameValues({ text }: Item, out: string): boolean {
  const read = (source: string): unknown => {
    const documents = parseAllDocuments(source, { uniqueKeys: false });
    return Array.isArray(documents)
      ? documents.map((document) =>
          document.errors.length > 0 ? null : (document.toJS() as unknown),
        )
      : null;
  };
  const values = (source: string): readonly string[] =>
    source.split('\n').filter((line) => !/^\s*(?:[#;]|$)/.test(line));
  return isDeepStrictEqual(read(text), read(out)) || isDeepStrictEqual(values(text), values(out));
}
