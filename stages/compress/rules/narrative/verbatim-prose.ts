/**
 * Prose in which every sentence counts, whatever the question: instructions for contributors and
 * agents, and line ranges that a command requested by number.
 */
import { programsOf } from '../../../model/classify/command.ts';
import type { ClassifyHints } from '../../../model/classify/hints.ts';
import { namesInstructions } from '../../pass/instructions.ts';

/** A line range as requested with `sed`, `head` or `tail`. */
const PART_REQUEST =
  /\bsed\s+(?:-\w+\s+){0,3}["']?\d+(?:,\s*[+\d$]|p)|\b(?:head|tail)\s+(?:-n\s*|-{1,2}lines[= ])?-?\+?\d/;
const VIEWERS: ReadonlySet<string> = new Set(
  'cat nl head tail sed bat batcat less more cd echo'.split(' '),
);
const MAX_COMMAND_CHARS = 2000;

/** Returns true for such a text, judging by its file or command. */
export function isVerbatimProse({ path, command }: ClassifyHints): boolean {
  if (path !== undefined) return namesInstructions(path);
  if (command === undefined) return false;
  const seen = command.slice(0, MAX_COMMAND_CHARS);
  if (!programsOf(seen).every((name) => VIEWERS.has(name))) return false;
  return namesInstructions(seen) || PART_REQUEST.test(seen);
}
