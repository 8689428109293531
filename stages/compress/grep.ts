/**
 * Search hits, lossless: a path is written once and its hits below it, and directories
 * once for all files in them. Decoded again before use.
 *
 *     src/lib/            a directory: names below are in it
 *     a.ts                a file: numbers below are its lines
 *     12:const a = 1;
 *     b.ts:7:use(a);      a file with one hit
 */
import type { Compressed, Compressor } from './compressor.ts';
import { MARK } from './marker.ts';

export const GREP_HEADER = `${MARK}hits by file, complete: "dir/" and then file names, each with its lines`;

/** The separator between path and number, and number and text: `:` for a hit, `-` for context. */
const HIT = /^((?:[^:\n]{1,300}?))([:-])(\d{1,7})\2(.*)$/s;
const BARE = /^([^:\n]{1,300}):(.*)$/s;

interface Hit {
  readonly path: string;
  /** What follows the path: `12:text`, `12-text`, or `:text` where lines are not numbered. */
  readonly rest: string;
}

/** Groups grep and ripgrep output by file. */
export const groupGrep: Compressor = {
  name: 'grep',
  classes: ['grep'],
  apply(text): Compressed | undefined {
    const lines = text.split('\n');
    const hits = readHits(lines);
    if (hits === undefined) return undefined;
    const root = sharedRoot(hits);
    const header = root === '' ? `${GREP_HEADER}]` : `${GREP_HEADER}; all below ${root}]`;
    const out = `${header}\n${print(lines, hits, root).join('\n')}`;
    if (out.length >= text.length || ungroupGrep(out) !== text) return undefined;
    return { text: out, removed: [] };
  },
};

function readHits(lines: readonly string[]): readonly (Hit | undefined)[] | undefined {
  const paths = new Set<string>();
  const hits = lines.map((line) => {
    const hit = readHit(line, paths);
    if (hit !== undefined) paths.add(hit.path);
    return hit;
  });
  const found = hits.filter((hit) => hit !== undefined).length;
  return found >= 3 && found >= lines.length * 0.6 ? hits : undefined;
}

/** A context line's path may hold dashes and digits: a path already seen wins. */
function readHit(line: string, paths: ReadonlySet<string>): Hit | undefined {
  const head = line.length > 600 ? line.slice(0, 600) : line;
  const colon = /^([^:\n]{1,300}):(\d{1,7}):/.exec(head);
  if (colon !== null) return toHit(line, colon[1]!);
  for (const path of paths) {
    if (
      line.startsWith(`${path}-`) &&
      /^\d{1,7}-/.test(line.slice(path.length + 1, path.length + 9))
    ) {
      return toHit(line, path);
    }
  }
  const context = HIT.exec(head);
  if (context !== null && context[2] === '-') return toHit(line, context[1]!);
  const bare = BARE.exec(head);
  if (bare === null || !/[./]/.test(bare[1]!) || /\s/.test(bare[1]!)) return undefined;
  return { path: bare[1]!, rest: line.slice(bare[1]!.length) };
}

function toHit(line: string, path: string): Hit {
  return { path, rest: line.slice(path.length + 1) };
}

/** The directory that all hits are in, with its closing slash; '' where they share none. */
function sharedRoot(hits: readonly (Hit | undefined)[]): string {
  let root: string | undefined;
  for (const hit of hits) {
    if (hit === undefined) continue;
    root ??= hit.path.slice(0, hit.path.lastIndexOf('/') + 1);
    while (!hit.path.startsWith(root))
      root = root.slice(0, root.lastIndexOf('/', root.length - 2) + 1);
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
  hits.forEach((hit, at) => {
    if (hit === undefined) {
      // A line as it is carries a leading tab, so that it is never taken for a name.
      out.push(lines[at] === '' ? '' : `\t${lines[at]!}`);
      return;
    }
    if (hit.path === file) {
      out.push(hit.rest);
      return;
    }
    const cut = hit.path.lastIndexOf('/') + 1;
    const folder = hit.path.slice(root.length, cut);
    if (folder !== directory) out.push(folder === '' ? './' : folder);
    directory = folder;
    const name = hit.path.slice(cut);
    const alone = hits[at + 1]?.path !== hit.path;
    if (alone && !hit.rest.startsWith(':')) out.push(`${name}:${hit.rest}`);
    else out.push(name, hit.rest);
    file = alone && !hit.rest.startsWith(':') ? '' : hit.path;
  });
  return out;
}

/** The lines that grouped output stands for; undefined where the text is not ours. */
export function ungroupGrep(text: string): string | undefined {
  const [header = '', ...lines] = text.split('\n');
  if (!header.startsWith(GREP_HEADER) || !header.endsWith(']')) return undefined;
  const root = /; all below (\S+)\]$/.exec(header)?.[1] ?? '';
  const out: string[] = [];
  let directory = '';
  let file: string | undefined;
  for (const line of lines) {
    const row = /^(?:(\d{1,7})([:-])|:)/.exec(line);
    const single = /^([^:/]{1,300}):(\d{1,7}([:-]).*)$/s.exec(line);
    if (line === '') out.push('');
    else if (line.startsWith('\t')) out.push(line.slice(1));
    else if (row !== null && file !== undefined) {
      const glue = row[2] ?? '';
      out.push(`${root}${directory}${file}${glue}${line}`);
    } else if (/^[^:]*\/$/.test(line)) {
      directory = line === './' ? '' : line;
      file = undefined;
    } else if (single !== null) {
      out.push(`${root}${directory}${single[1]}${single[3]}${single[2]}`);
      file = undefined;
    } else if (line !== '' && line !== '--' && !/[:\s]/.test(line)) file = line;
    else out.push(line);
  }
  return out.join('\n');
}
