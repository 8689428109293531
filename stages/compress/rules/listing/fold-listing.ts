/**
 * Folds file listings without loss: names that differ only in the middle share the rest, as with a
 * shell's braces, and repeated columns of `ls -l` are written once. No name is ever dropped. Every
 * encoding is decoded again before use.
 */
import type { Apply } from '../rule.ts';
import { shortenRows, widenRows } from './rows.ts';
import { foldSections, unfoldSections } from './sections.ts';
import { foldPaths, unfoldPaths } from './tree.ts';
import { MARK } from '../../text/marker.ts';
import { foldRepeats } from '../../text/repeats.ts';

const NAMES_HEADER = `${MARK}listing, complete`;
const TREE_HEADER = `${MARK}ls -R, complete: "dir: names" under the directory that it is in`;
const ROWS_HEADER = `${MARK}ls -l, complete: `;

/** Shortens the output of ls, find, tree and the like. */
export const foldListing: Apply = (text) => {
  const lines = text.split('\n');
  for (const fold of [foldRows, foldTree, foldNames]) {
    const out = fold(lines);
    if (out === undefined || unfoldListing(out) !== text) continue;
    return out.length >= text.length ? undefined : { text: out, removed: [] };
  }
  return undefined;
};

/**
 * Folds short lines that a program prints repeatedly, when they were classified as a list of names.
 */
export const foldListedRepeats: Apply = (text) => {
  if (text.includes(MARK)) return undefined;
  const folded = foldRepeats(text.split('\n'));
  return folded === text ? undefined : { text: folded, removed: [] };
};

function foldRows(lines: readonly string[]): string | undefined {
  const rows = shortenRows(lines);
  return rows && `${ROWS_HEADER}${rows.legend}]\n${rows.lines.join('\n')}`;
}

function foldTree(lines: readonly string[]): string | undefined {
  const tree = foldSections(lines);
  return tree && `${TREE_HEADER}${bracesIn(tree)}]\n${tree.join('\n')}`;
}

function foldNames(lines: readonly string[]): string {
  const rows = foldPaths(lines);
  const inner = rows.some((row) => row.endsWith('\t'))
    ? '; indented names are in the dir/ above'
    : '';
  return `${NAMES_HEADER}${inner}${bracesIn(rows)}]\n${rows.join('\n')}`;
}

/** Returns the legend for braces, if any row has them. */
function bracesIn(rows: readonly string[]): string {
  return rows.some((row) => row.includes('{')) ? '; a{b,c}d = abd acd' : '';
}

/** Decodes a folded listing; undefined if svc did not write it. */
export function unfoldListing(text: string): string | undefined {
  const [header, ...lines] = text.split('\n');
  if (header === undefined) return undefined;
  if (header.startsWith(TREE_HEADER)) return unfoldSections(lines).join('\n');
  if (header.startsWith(NAMES_HEADER)) return unfoldPaths(lines).join('\n');
  if (!header.startsWith(ROWS_HEADER)) return undefined;
  return widenRows(header.slice(ROWS_HEADER.length, -1), lines).join('\n');
}
