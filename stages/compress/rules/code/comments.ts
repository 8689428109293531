/** Selects the comments of source code to keep: those that tools act on, and those that warn. */
import {
  isInstruction,
  isDirective,
  isPreserved,
  isReasonToKeep,
  looksAddressed,
} from './comment-directives.ts';
import type { LineRange } from '../rule.ts';

/** The import directly below the comment that holds the C source for cgo. */
const CGO_IMPORT = /^\s*(?:import\s+)?"C"/;

/** Returns the comments of a text to keep. Comments on consecutive lines count as one. */
export function keptComments(
  lines: readonly string[],
  comments: readonly LineRange[],
): ReadonlySet<LineRange> {
  const kept = new Set<LineRange>();
  for (const block of blocksOf(lines, comments)) {
    const from = block[0]!.from;
    const to = block.at(-1)!.to;
    const own = lines.slice(from, to);
    const keepsAll =
      own.some(isReasonToKeep) || isInstruction(own) || CGO_IMPORT.test(lines[to] ?? '');
    for (const range of block) if (keepsAll || isKept(lines, range)) kept.add(range);
  }
  return kept;
}

function isKept(lines: readonly string[], { from, to }: LineRange): boolean {
  if (isPreserved(lines[from]!) || lines.slice(from, to).some(isDirective)) return true;
  return to - from === 1 && looksAddressed(lines[from]!);
}

function blocksOf(
  lines: readonly string[],
  comments: readonly LineRange[],
): readonly (readonly LineRange[])[] {
  const blocks: LineRange[][] = [];
  for (const range of comments) {
    const open = blocks.at(-1);
    const last = open?.at(-1);
    const follows = last?.to === range.from && !lines[last.from]!.startsWith('#!');
    if (open !== undefined && follows) open.push(range);
    else blocks.push([range]);
  }
  return blocks;
}
