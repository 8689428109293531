/**
 * Trains the weights of `stages/model/classify/signs.ts`, and evaluates them on programs that were
 * not used for training:
 *
 *     node dist/bench/quality/run-weights.js RECORDS.jsonl … --files FOLDER …
 *
 * A record is `{ text, expected, group }`: a text, its acceptable classes with the best one first,
 * and the tool that printed it. Files, whole and in parts, are the samples that are not output. All
 * records of a tool are in one fold, so every figure is about tools that the weights have not seen.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gatherEvidence } from '../../stages/model/classify/classify.ts';
import { scoreSigns, SIGN_NAMES } from '../../stages/model/classify/signs.ts';
import { signsIn } from '../../stages/model/classify/run.ts';
import { readRecords } from './corpus.ts';
import { fit, type Case } from './logistic.ts';

interface Row extends Case {
  readonly group: string;
  readonly kind: 'run' | 'facts' | 'file';
}

interface LabelledText {
  readonly text: string;
  readonly expected: readonly string[];
  readonly group: string;
}

const FOLDS = 25;
/** Facts are fewer than files, and closer to runs. */
const FACTS_COUNT = 4;
const PER_FOLDER = 14;
const MAX_FILES = 1500;
const MAX_CHARS = 40_000;
/** Classes recognized by their structure, which no score decides. */
const STRUCTURAL_CLASSES = new Set(['trace', 'json', 'html', 'blob', 'diff']);

function toRow(text: string, kind: Row['kind'], group: string): Row {
  return {
    group,
    kind,
    outcome: kind === 'run',
    features: [1, ...signsIn({ ...gatherEvidence(text), ran: true })],
  };
}

function readRuns(path: string): readonly Row[] {
  return readRecords<LabelledText>(path)
    .filter(({ expected: [first = ''], expected }) => {
      return !STRUCTURAL_CLASSES.has(first) && (first === 'log' || !expected.includes('log'));
    })
    .map(({ text, expected, group }) =>
      toRow(text, expected[0] === 'log' ? 'run' : 'facts', group),
    );
}

/** Reads files below a folder, some per folder, and parts of them. */
function readFiles(root: string): readonly Row[] {
  const taken = new Map<string, number>();
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((path) => ({ path, key: createHash('sha1').update(path).digest('hex') }))
    .toSorted((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ path }) => path);
  const rows: Row[] = [];
  for (const path of paths) {
    if (rows.length >= MAX_FILES) break;
    const group = path.split('/').slice(0, 2).join('/');
    const count = taken.get(group) ?? 0;
    const stat = statSync(join(root, path), { throwIfNoEntry: false });
    if (count >= PER_FOLDER || stat === undefined || !stat.isFile() || stat.size < 60) continue;
    if (stat.size > 200_000 || /\.(?:log|snap|min\.\w+)$/.test(path)) continue;
    const text = readFileSync(join(root, path), 'utf8').slice(0, MAX_CHARS);
    if (/[\0\ufffd]/.test(text)) continue;
    taken.set(group, count + 1);
    for (const part of partsOf(text)) rows.push(toRow(part, 'file', `${root}/${group}`));
  }
  return rows;
}

/** Returns the text, 40 lines of it, and a few lines. */
function partsOf(text: string): readonly string[] {
  const lines = text.split('\n');
  if (lines.length <= 60) return [text];
  const third = Math.floor(lines.length / 3);
  const half = Math.floor(lines.length / 2);
  const parts = [text, lines.slice(third, third + 40), lines.slice(half, half + 6)];
  return parts.map((part) => (typeof part === 'string' ? part : part.join('\n')));
}

/**
 * Returns the weight of each row: a group together counts at most the square root of its size, and
 * runs as much as everything else.
 */
function countsOf(rows: readonly Row[]): readonly number[] {
  const sizes = new Map<string, number>();
  for (const { group } of rows) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  const plain = rows.map(({ group, kind }) => {
    return (kind === 'facts' ? FACTS_COUNT : 1) / Math.sqrt(sizes.get(group)!);
  });
  const sum = (isRun: boolean): number =>
    plain.reduce((all, count, at) => all + ((rows[at]!.kind === 'run') === isRun ? count : 0), 0);
  const scale = sum(false) / sum(true);
  return plain.map((count, at) => (rows[at]!.kind === 'run' ? count * scale : count));
}

/** Returns the score of each row by weights trained without its group. */
function heldOut(rows: readonly Row[], counts: readonly number[]): readonly number[] {
  const folds = rows.map(
    ({ group }) => createHash('sha1').update(group).digest().readUInt16BE(0) % FOLDS,
  );
  const scores = rows.map(() => 0);
  for (let fold = 0; fold < FOLDS; fold++) {
    const kept = rows.map((_, at) => at).filter((at) => folds[at] !== fold);
    const weights = fit(
      kept.map((at) => rows[at]!),
      kept.map((at) => counts[at]!),
    );
    rows.forEach(({ features }, at) => {
      if (folds[at] === fold) scores[at] = scoreSigns(features, weights);
    });
  }
  return scores;
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

function main(args: readonly string[]): void {
  const split = args.indexOf('--files');
  const records = split < 0 ? args : args.slice(0, split);
  const folders = split < 0 ? [] : args.slice(split + 1);
  const rows = [...records.flatMap(readRuns), ...folders.flatMap(readFiles)];
  const counts = countsOf(rows);
  const weights = fit(rows, counts);
  ['bias', ...SIGN_NAMES].forEach((name, at) => {
    printLine(`${name.padEnd(14)}${weights[at]!.toFixed(1).padStart(6)}`);
  });
  const scores = heldOut(rows, counts);
  printLine('\nabove       runs   facts   files   (tools left out)');
  for (const bar of [-1.5, -1, 0, 1.5, 2.5]) {
    const share = (['run', 'facts', 'file'] as const).map((kind) => {
      const own = scores.filter((_, at) => rows[at]!.kind === kind);
      const above = own.filter((score) => score > bar).length;
      return `${((100 * above) / own.length).toFixed(1)} %`.padStart(8);
    });
    printLine(`${String(bar).padStart(5)}   ${share.join('')}`);
  }
}

main(process.argv.slice(2));
