/**
 * Groups search hits without loss: a path is written once with its hits below it, and a directory
 * once for all files in it. Every encoding is decoded again before use.
 *
 *     src/lib/            a directory: names below are in it
 *     a.ts                a file: numbers below are its lines
 *     12:const a = 1;
 *     b.ts:7:use(a);      a file with one hit
 *     (12,3): error       a position in the file above, as compilers write it; `b.ts(12,3): error` with its file
 *     = {c,d}.ts          files that have the hit on the next line
 */
import type { Apply } from '../rule.ts';
import { braceRows, namesOf } from '../listing/names.ts';
import { MARK } from '../../text/marker.ts';
import { flattenHits, unflattenHits } from './listed-hits.ts';

const GREP_HEADER = `${MARK}hits under their directory/ and file, complete`;

/** The separator after the path and after the number: `:` for a hit, `-` for context. */
const HIT = /^((?:[^:\n]{1,300}?))([:-])(\d{1,7})\2(.*)$/s;
const UNNUMBERED_HIT = /^([^:\n]{1,300}):(.*)$/s;

/** A position in round brackets after the file name. */
const HIT_AT_POSITION = /^([^:\n]{1,300}?)\(\d{1,7}(?:,\d{1,7})?\): /;

interface Hit {
  readonly path: string;
  /** Text after the path: `12:text`, `12-text`, `(12,3): text`, or `:text` without line numbers. */
  readonly rest: string;
}

/** Added to the header if hits were listed below their files. */
const LISTED_NOTE = '; "7:" was "  Line 7: "';

/** Groups grep and ripgrep output by file, including lists of hits below their files. */
export const groupGrep: Apply = (text) => {
  const flat = flattenHits(text);
  const lines = (flat ?? text).split('\n');
  const hits = readHits(lines);
  if (hits === undefined) return undefined;
  const root = sharedRoot(hits);
  const rows = print(lines, hits, root);
  const same = rows.some((row) => row.startsWith(SAME_TEXT_PREFIX))
    ? '; "= names" have the next line'
    : '';
  const listed = flat === undefined ? '' : LISTED_NOTE;
  const header = `${GREP_HEADER}${listed}${same}${root === '' ? '' : `; all below ${root}`}]`;
  const out = `${header}\n${rows.join('\n')}`;
  if (out.length >= text.length || ungroupGrep(out) !== text) return undefined;
  return { text: out, removed: [] };
};

function readHits(lines: readonly string[]): readonly (Hit | undefined)[] | undefined {
  let last = '';
  const hits = lines.map((line) => {
    const hit = readHit(line, last);
    if (hit !== undefined) last = hit.path;
    return hit;
  });
  const found = hits.filter((hit) => hit !== undefined);
  // In counts per file each row is short, and a number without its file would look like a line
  // number.
  if (found.every(({ rest }) => /^:\d+$/.test(rest))) return undefined;
  return found.length >= 3 && found.length >= lines.length * 0.6 ? hits : undefined;
}

/**
 * Reads a hit. A context line's path may contain dashes and digits, so the path of the line above
 * wins.
 */
function readHit(line: string, last: string): Hit | undefined {
  const start = line.length > 600 ? line.slice(0, 600) : line;
  const colon = /^([^:\n]{1,300}):(\d{1,7}):/.exec(start);
  if (colon !== null) return toHit(line, colon[1]!);
  if (
    last !== '' &&
    start.startsWith(`${last}-`) &&
    /^\d{1,7}-/.test(start.slice(last.length + 1))
  ) {
    return toHit(line, last);
  }
  const context = HIT.exec(start);
  if (context !== null && context[2] === '-') return toHit(line, context[1]!);
  const placed = HIT_AT_POSITION.exec(start)?.[1];
  if (placed !== undefined && /^\S*\.\w/.test(placed) && !/\s/.test(placed))
    return { path: placed, rest: line.slice(placed.length) };
  const bare = UNNUMBERED_HIT.exec(start);
  if (bare === null || !/[./]/.test(bare[1]!) || /\s/.test(bare[1]!)) return undefined;
  return { path: bare[1]!, rest: line.slice(bare[1]!.length) };
}

function toHit(line: string, path: string): Hit {
  return { path, rest: line.slice(path.length + 1) };
}

/** Returns the directory shared by all hits, with its trailing slash; '' if they share none. */
function sharedRoot(hits: readonly (Hit | undefined)[]): string {
  let root: string | undefined;
  for (const hit of hits) {
    if (hit === undefined) continue;
    root ??= hit.path.slice(0, hit.path.lastIndexOf('/') + 1);
    // `/` has no parent; the root becomes empty, which a relative name shares.
    while (!hit.path.startsWith(root))
      root = root === '/' ? '' : root.slice(0, root.lastIndexOf('/', root.length - 2) + 1);
  }
  return root === undefined || /[\]\s]/.test(root) ? '' : root;
}

function print(
  lines: readonly string[],
  hits: readonly (Hit | undefined)[],
  root: string,
): string[] {
  const out: string[] = [];
  let directory = '';
  let file = '';
  for (let at = 0; at < hits.length;) {
    const hit = hits[at];
    const same = pathsOfSameText(hits, at);
    if (hit === undefined) {
      // A verbatim line gets a leading tab, so that it is never taken for a name.
      out.push(lines[at] === '' ? '' : `\t${lines[at]!}`);
    } else if (same.length > 1) {
      const paths = same.map((path) => path.slice(root.length));
      out.push(`${SAME_TEXT_PREFIX}${braceRows(paths).join(' ')}`, hit.rest);
      file = '';
    } else if (hit.path === file) {
      out.push(hit.rest);
    } else {
      const cut = hit.path.lastIndexOf('/') + 1;
      const folder = hit.path.slice(root.length, cut);
      if (folder !== directory) out.push(folder === '' ? './' : folder);
      directory = folder;
      const alone = hits[at + 1]?.path !== hit.path && !hit.rest.startsWith(':');
      if (alone)
        out.push(`${hit.path.slice(cut)}${hit.rest.startsWith('(') ? '' : ':'}${hit.rest}`);
      else out.push(hit.path.slice(cut), hit.rest);
      file = alone ? '' : hit.path;
    }
    at += Math.max(1, same.length);
  }
  return out;
}

/** Returns the paths of adjacent hits with the same text in different files. */
function pathsOfSameText(hits: readonly (Hit | undefined)[], at: number): readonly string[] {
  const first = hits[at];
  const paths: string[] = [];
  if (first === undefined) return paths;
  for (let next = at; hits[next]?.rest === first.rest; next++) {
    const { path } = hits[next]!;
    if (/[\s{},\\]/.test(path) || path === paths.at(-1)) break;
    paths.push(path);
  }
  return paths;
}

/** Prefix of a line of files that all have the hit on the next line. */
const SAME_TEXT_PREFIX = '= ';

/** Decodes grouped output; undefined if svc did not write it. */
export function ungroupGrep(text: string): string | undefined {
  const [header = '', ...lines] = text.split('\n');
  if (!header.startsWith(GREP_HEADER) || !header.endsWith(']')) return undefined;
  const root = /; all below (\S+)\]$/.exec(header)?.[1] ?? '';
  const out: string[] = [];
  let directory = '';
  let file: string | undefined;
  let sharedBy: readonly string[] | undefined;
  for (const line of lines) {
    const row = /^(?:(\d{1,7})([:-])|:|(?=\(\d))/.exec(line);
    const placed = HIT_AT_POSITION.exec(line);
    const single = /^([^:/]{1,300}):(\d{1,7}([:-]).*)$/s.exec(line);
    const glue = row?.[2] ?? '';
    if (sharedBy !== undefined) {
      out.push(...sharedBy.map((path) => `${root}${path}${glue}${line}`));
      sharedBy = undefined;
    } else if (line === '') out.push('');
    else if (line.startsWith('\t')) out.push(line.slice(1));
    else if (line.startsWith(SAME_TEXT_PREFIX)) {
      sharedBy = namesOf(line.slice(SAME_TEXT_PREFIX.length));
      file = undefined;
    } else if (row !== null && file !== undefined)
      out.push(`${root}${directory}${file}${glue}${line}`);
    else if (/^[^:]*\/$/.test(line)) {
      directory = line === './' ? '' : line;
      file = undefined;
    } else if (placed !== null) {
      out.push(`${root}${directory}${line}`);
      file = undefined;
    } else if (single !== null) {
      out.push(`${root}${directory}${single[1]}${single[3]}${single[2]}`);
      file = undefined;
    } else file = line;
  }
  const made = out.join('\n');
  return header.startsWith(GREP_HEADER + LISTED_NOTE) ? unflattenHits(made) : made;
}
