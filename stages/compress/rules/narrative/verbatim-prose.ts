/**
 * Prose in which every sentence counts, whatever the question: instructions for contributors and
 * agents, and line ranges that a command requested by number.
 */
import { programsOf } from '../../../model/classify/command.ts';
import type { ClassifyHints } from '../../../model/classify/hints.ts';
import { namesInstructions } from '../../pass/instructions.ts';

/** A line range as requested with `sed`, `head` or `tail`. */
const PART =
  /\bsed\s+(?:-\w+\s+){0,3}["']?\d+(?:,\s*[+\d$]|p)|\b(?:head|tail)\s+(?:-n\s*|-{1,2}lines[= ])?-?\+?\d/;
const SHOWING: ReadonlySet<string> = new Set(
  'cat nl head tail sed bat batcat less more cd echo'.split(' '),
);
const SEEN = 2000;

/** Returns true for such a text, judging by its file or command. */
export function isReadToTheLetter({ path, command }: ClassifyHints): boolean {
  if (path !== undefined) return namesInstructions(path);
  if (command === undefined) return false;
  const seen = command.slice(0, SEEN);
  if (!programsOf(seen).every((name) => SHOWING.has(name))) return false;
  return namesInstructions(seen) || PART.test(seen);
}
