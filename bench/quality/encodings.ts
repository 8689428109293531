/**
 * Measures what each class saves on printed or read text, with the class detected as in a request,
 * and proves for every text that nothing essential was lost.
 */
import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { builtIn } from '../../stages/compress/rules/built-in.ts';
import { guessExtension } from '../../stages/compress/rules/code/strip-code.ts';
import type { CommentLines, Mode } from '../../stages/compress/rules/rule.ts';
import { compressConversation, emptyState } from '../../stages/compress/pass/conversation.ts';
import { ungroupGrep } from '../../stages/compress/rules/grep/group-grep.ts';
import { decodeJson } from '../../stages/compress/rules/json/decode.ts';
import { printCompact, readJson } from '../../stages/compress/rules/json/lexer.ts';
import { unfoldListing } from '../../stages/compress/rules/listing/fold-listing.ts';
import { classify } from '../../stages/model/classify/classify.ts';
import type { ClassifyHints } from '../../stages/model/classify/hints.ts';
import type { CountTokens } from '../../stages/model/count-tokens.ts';
import { compareCode, type CodeReader } from './code-tokens.ts';
import { compareConfig } from './config-readers.ts';
import { readRecords, type TextRecord } from './corpus.ts';
import { changesIn } from './diff-changes.ts';
import { compareJson } from './json-values.ts';
import {
  codeFiles,
  editSamples,
  grepSamples,
  historySamples,
  listingSamples,
  unrelatedSamples,
} from './samples.ts';
import {
  restoreReferences,
  expandHits,
  unpackSigns,
} from '../../stages/compress/decode/decoders.ts';

/** One row of the table. Shares are 0–1. */
export interface EncodingResult {
  readonly name: string;
  readonly texts: number;
  readonly unchanged: number;
  readonly saved: number;
  /** Texts that lost something essential. Must be 0. */
  readonly broken: number;
}

interface Item {
  readonly text: string;
  readonly hints: ClassifyHints;
  /** Baseline of the saving; default: the text itself. */
  readonly against?: string;
}

/** The compressed form of an item, and the same with references to earlier text decoded. */
interface CompressedItem {
  readonly text: string;
  readonly decoded: string;
}

export interface EncodingTools {
  readonly count: CountTokens;
  readonly commentLines: CommentLines;
  readonly readCode: CodeReader;
}

type CompressItem = (item: Item, tools: EncodingTools) => CompressedItem;
type IsIntact = (item: Item, out: string, tools: EncodingTools) => boolean;
type Row = readonly [name: string, make: CompressItem, items: readonly Item[], holds: IsIntact];

/** Returns all rows that need no corpus, and the others if there is one. */
export function measureEncodings(
  root: string,
  corpus: string | undefined,
  tools: EncodingTools,
): readonly EncodingResult[] {
  return [...storedRows(corpus), ...madeRows(root)]
    .filter(([, , items]) => items.length > 0)
    .map((row) => measure(row, tools));
}

function storedRows(corpus: string | undefined): readonly Row[] {
  const texts = (file: string): readonly Item[] =>
    corpus === undefined
      ? []
      : readRecords<TextRecord>(join(corpus, 'text', `${file}.jsonl`)).map(toItem);
  const json = texts('json').map(({ text }) => ({ text, hints: {} }));
  const uniform = json.filter(({ text }) => isUniform(text));
  const pretty = uniform.map((item) => ({
    ...item,
    against: JSON.stringify(JSON.parse(item.text), null, 2),
  }));
  const compact = uniform.map((item) => ({
    ...item,
    against: printCompact(readJson(item.text)!),
  }));
  return [
    ['json, all, as found', byClass('hybrid'), json, sameJson],
    ['json, uniform records, vs pretty', byClass('hybrid'), pretty, sameJson],
    ['json, uniform records, vs compact', byClass('hybrid'), compact, sameJson],
    ['config, aggressive', byClass('aggressive'), texts('config'), sameValues],
  ];
}

/** Returns a stored file as an agent reads it: by its path. */
function toItem({ text, source }: TextRecord): Item {
  const path = source?.path;
  return { text, hints: path === undefined ? {} : { toolName: 'Read', path } };
}

function madeRows(root: string): readonly Row[] {
  const code = codeFiles(root, 60).map((path) => ({
    text: readFileSync(path, 'utf8'),
    hints: { toolName: 'Read', path },
  }));
  const diff = 'git diff';
  return [
    ['grep', byClass('hybrid'), grepSamples(root), sameHits],
    ['listings', byClass('hybrid'), listingSamples(root), sameNames],
    ['diffs of edits', asToolResult(diff), editSamples(root), sameChanges],
    ['diffs, commits of this repository', asToolResult(diff), historySamples(root), sameChanges],
    ['diffs between unrelated files', asToolResult(diff), unrelatedSamples(root), sameChanges],
    ['code, aggressive', byClass('aggressive'), code, sameCode],
  ];
}

function measure([name, make, items, holds]: Row, tools: EncodingTools): EncodingResult {
  const { count } = tools;
  let before = 0;
  let after = 0;
  let unchanged = 0;
  let broken = 0;
  for (const item of items) {
    const { text, decoded } = make(item, tools);
    before += count(item.against ?? item.text);
    after += count(text);
    if (text === item.text) unchanged++;
    if (!holds(item, decoded, tools)) broken++;
  }
  return {
    name,
    texts: items.length,
    unchanged,
    saved: before === 0 ? 0 : 1 - after / before,
    broken,
  };
}

const SETTINGS = { maxChars: 120, logBudgetTokens: 3500 } as const;

/** Compresses a text by itself, with the algorithms of its detected class. */
function byClass(mode: Mode): CompressItem {
  return ({ text, hints }, { commentLines }) => {
    const code = mode === 'aggressive' ? { commentLines } : {};
    const out = builtIn.apply(text, { ...SETTINGS, ...code, mode, query: '', hints }).text;
    return { text: out, decoded: out };
  };
}

/**
 * Compresses a text as a tool result printed by a command, including references to repeated text.
 */
function asToolResult(command: string): CompressItem {
  return ({ text }) => {
    const state = emptyState();
    const block = {
      index: 0,
      role: 'user',
      kind: 'tool_result',
      text,
      toolInput: { command },
    } as const;
    const options = { ...SETTINGS, mode: 'hybrid', thresholdTokens: 0 } as const;
    const [outcome] = compressConversation([block], options, undefined, state);
    return { text: outcome!.text, decoded: restoreReferences(state.sent, outcome!.text) };
  };
}

/**
 * True for a list of five or more objects with the same keys; records, not documents: at most 1,500
 * characters per row.
 */
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
  return out === text || compareJson(text, decodeJson(out) ?? out).faults.length === 0;
}

function sameHits({ text }: Item, out: string): boolean {
  const named = expandHits(out) ?? out;
  return (ungroupGrep(named) ?? named) === text;
}

function sameNames({ text }: Item, out: string): boolean {
  return (unfoldListing(out) ?? out) === text;
}

/**
 * True if the + and − lines of source are the same, in order, and the counts for generated files
 * are right.
 */
function sameChanges({ text }: Item, out: string): boolean {
  return out === text || isDeepStrictEqual(changesIn(unpackSigns(out)), changesIn(text));
}

function sameCode({ text, hints }: Item, out: string, { readCode }: EncodingTools): boolean {
  const extension = classify(text, hints).extension ?? guessExtension(text) ?? '';
  return out === text || compareCode(readCode, text, out, extension).faults.length === 0;
}

function sameValues({ text }: Item, out: string): boolean {
  return out === text || compareConfig(text, out).faults.length === 0;
}
