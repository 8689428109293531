/**
 * Shrinks diffs: the file's three header lines become one, context shrinks to one line on each
 * side, the signs of long runs are written once, and hunks of lock files and generated files are
 * counted instead of shown. No + or − line of source is ever left out, and hunk headers keep
 * correct line numbers. Anything but a plain unified diff (word diffs, colours, three-way diffs,
 * wrong counts) stays unchanged.
 */
import { estimateTokens } from '../../../model/tokens.ts';
import type { Apply, Compressed, LineRange } from '../rule.ts';
import { readHunk, trimHunk } from './hunks.ts';
import { isPackedHeader, packedLines, SIGNS_LEGEND } from './signs.ts';
import { isMentioned, type QueryContext } from '../named-lines.ts';
import { MARK } from '../../text/marker.ts';

const GENERATED =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|composer\.lock|Gemfile\.lock|go\.sum|flake\.lock)$|\.min\.(?:js|css)$|\.(?:js|css)\.map$|\.snap$/;

/** Packing must save at least this many signs, about the cost of its legend. */
const MIN_SAVED_SIGNS = 20;

/** Shrinks unified diffs as git prints them. */
export const shrinkDiff: Apply = (text, context) => {
  const lines = text.split('\n');
  // Without signs, changes are not recognizable and could be left out.
  if (!isPlainDiff(lines)) return undefined;
  const mayCount = mayCountGenerated(lines, context);
  // A source line that looks like the head of a packed run would be decoded as one.
  const packed = lines.some(isPackedHeader) ? undefined : shrink(lines, true, mayCount);
  const min =
    packed !== undefined && packedLines(packed.text) >= MIN_SAVED_SIGNS
      ? packed
      : shrink(lines, false, mayCount);
  return estimateTokens(min.text) < estimateTokens(text) ? min : undefined;
};

/** Returns whether every readable hunk has signed lines, unlike those of `--word-diff`. */
function isPlainDiff(lines: readonly string[]): boolean {
  for (let at = 0; at < lines.length;) {
    const hunk = readHunk(lines, at);
    if (hunk !== undefined && !hunk.lines.some((line) => /^[+-]/.test(line))) return false;
    at = hunk?.end ?? at + 1;
  }
  return true;
}

/** Words by which a question or a call may refer to the path of a generated file. */
const GENERATED_FILE_WORDS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\.snap$/, ['snapshot', '.snap']],
  [/\.min\.|\.map$/, ['minified', 'bundle', '.map', 'dist']],
  [/./, ['lock', 'go.sum', 'shrinkwrap', 'dependenc', 'package', 'version', 'upgrade', 'bump']],
];

/**
 * Returns a test for generated files whose hunks may be counted instead of shown: those that change
 * alongside source and that neither the question nor the call mentions. In a diff with only
 * generated files, those are what was requested.
 */
function mayCountGenerated(
  lines: readonly string[],
  asking: QueryContext,
): (path: string) => boolean {
  const paths = lines.flatMap(
    (line) => /^diff --git a\/.{1,400} b\/(.{1,400})$/s.exec(line)?.[1] ?? [],
  );
  if (!paths.some((path) => !GENERATED.test(path))) return () => false;
  return (path) => {
    const [, words = []] = GENERATED_FILE_WORDS.find(([pattern]) => pattern.test(path)) ?? [];
    return ![path.slice(path.lastIndexOf('/') + 1), ...words].some((word) =>
      isMentioned(word, asking),
    );
  };
}

function shrink(
  lines: readonly string[],
  pack: boolean,
  mayCount: (path: string) => boolean,
): Compressed {
  const out: string[] = [];
  const removed: LineRange[] = [];
  let names = false;
  let counted = false;
  // Only a hunk directly after another is certain to be of the same file.
  let above: string | undefined;
  for (let at = 0; at < lines.length;) {
    const hunk = readHunk(lines, at);
    const header = hunk === undefined ? readFileHeader(lines, at) : undefined;
    if (header !== undefined) {
      at = header.end;
      names ||= header.named;
      above = undefined;
      out.push(...header.lines);
      if (header.generated === undefined || !mayCount(header.generated)) continue;
      const end = generatedEnd(lines, at);
      if (end === at) continue;
      counted = true;
      out.push(countHunks(lines.slice(at, end)));
      removed.push({ from: at, to: end });
      at = end;
    } else if (hunk !== undefined) {
      const isWhole = isWholeFile(lines, at);
      out.push(...trimHunk(hunk, removed, { pack, previousHeading: above, isWholeFile: isWhole }));
      above = hunk.heading;
      at = hunk.end;
    } else {
      above = undefined;
      out.push(lines[at++]!);
    }
  }
  const signs = pack && out.some(isPackedHeader);
  const hasOmissions = removed.length > 0;
  return {
    text: [heading({ names, signs, hasOmissions, counted }), ...out].join('\n'),
    removed,
  };
}

/**
 * Returns true for a file that is added or deleted; a first hunk without context may also be an
 * insertion.
 */
function isWholeFile(lines: readonly string[], at: number): boolean {
  return (
    /^--- \/dev\/null\b/.test(lines[at - 2] ?? '') ||
    /^\+{3} \/dev\/null\b/.test(lines[at - 1] ?? '')
  );
}

interface UsedNotations {
  readonly names: boolean;
  readonly signs: boolean;
  readonly hasOmissions: boolean;
  /** Hunks of generated files are counted instead of shown. */
  readonly counted: boolean;
}

/** Returns the legend for the notations that the text uses. */
function heading({ names, signs, hasOmissions, counted }: UsedNotations): string {
  const parts = [
    `diff with ${hasOmissions ? 'less context, ' : ''}all + and - lines ${counted ? 'of source ' : ''}kept`,
    ...(names ? ['"*** p" = --- a/p and +++ b/p'] : []),
    ...(signs ? [SIGNS_LEGEND] : []),
    'the source is complete',
  ];
  return `${MARK}${parts.join('; ')}]`;
}

interface FileHeader {
  readonly lines: readonly string[];
  readonly end: number;
  /** Path of a generated file. */
  readonly generated: string | undefined;
  /** True if the path is on a line written by svc. */
  readonly named: boolean;
}

const EXTENDED_HEADER =
  /^(?:index [0-9a-f]+\.\.[0-9a-f]+|old mode|new mode|new file|deleted file|similarity|dissimilarity|rename |copy |--- |\+\+\+ )/;

/** Reads the header lines of a file, without redundant ones. */
function readFileHeader(lines: readonly string[], at: number): FileHeader | undefined {
  const match = /^diff --git (a\/.{1,400} b\/.{1,400})$/s.exec(lines[at]!);
  if (match === null) return undefined;
  let end = at + 1;
  while (end < lines.length && EXTENDED_HEADER.test(lines[end]!.slice(0, 100))) {
    end++;
    if (lines[end - 1]!.startsWith('+++ ')) break;
  }
  const extended = lines.slice(at + 1, end).filter((line) => !line.startsWith('index '));
  const path = samePath(match[1]!);
  const target = path ?? match[1]!;
  const generated = GENERATED.test(target) ? target : undefined;
  if (path !== undefined) return { lines: named(path, extended), end, generated, named: true };
  // Where the paths differ, `---` and `+++` name both, and the first line adds nothing.
  const both = `a/${pathAfter('--- a/', extended)} b/${pathAfter('+++ b/', extended)}`;
  const kept = both === match[1] ? extended : [lines[at]!, ...extended];
  return { lines: kept, end, generated, named: false };
}

/** Returns `p` for `a/p b/p`; undefined if the two differ. */
function samePath(both: string): string | undefined {
  const path = both.slice(2, (both.length - 1) / 2);
  return both === `a/${path} b/${path}` ? path : undefined;
}

function pathAfter(start: string, lines: readonly string[]): string | undefined {
  return lines.find((line) => line.startsWith(start))?.slice(start.length);
}

function named(path: string, extended: readonly string[]): readonly string[] {
  const kept = extended.filter((line) => line !== `--- a/${path}` && line !== `+++ b/${path}`);
  const [mode, gone] = kept;
  const whole =
    kept.length === 2 &&
    ((/^new file mode \d+$/.test(mode!) && gone === '--- /dev/null') ||
      (/^deleted file mode \d+$/.test(mode!) && gone === '+++ /dev/null'));
  return whole ? [`*** ${path} (${mode})`] : [`*** ${path}`, ...kept];
}

function generatedEnd(lines: readonly string[], at: number): number {
  let end = at;
  for (let hunk = readHunk(lines, end); hunk !== undefined; hunk = readHunk(lines, end))
    end = hunk.end;
  return end;
}

function countHunks(lines: readonly string[]): string {
  const count = (mark: string): number => lines.filter((line) => line.startsWith(mark)).length;
  return `${MARK}generated file: ${count('@@ ')} hunks with ${count('+')} added and ${count('-')} removed lines left out; the source is complete]`;
}
