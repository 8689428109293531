/**
 * Prose of which every sentence counts, whatever it has to do with the question: instructions for
 * whoever works on a project, and lines that a command asked for by their numbers.
 */
import { programsOf } from '../../../model/classify/command.ts';
import type { ClassifyHints } from '../../../model/classify/hints.ts';
import { namesInstructions } from '../../pass/instructions.ts';

/** A range of lines, as `sed` prints it, and so many first or last ones. */
const PART =
  /\bsed\s+(?:-\w+\s+){0,3}["']?\d+(?:,\s*[+\d$]|p)|\b(?:head|tail)\s+(?:-n\s*|-{1,2}lines[= ])?-?\+?\d/;
const SHOWING: ReadonlySet<string> = new Set(
  'cat nl head tail sed bat batcat less more cd echo'.split(' '),
);
const SEEN = 2000;

/** True for such a text, as far as its file or command shows. */
export function isReadToTheLetter({ path, command }: ClassifyHints): boolean {
  if (path !== undefined) return namesInstructions(path);
  if (command === undefined) return false;
  const seen = command.slice(0, SEEN);
  if (!programsOf(seen).every((name) => SHOWING.has(name))) return false;
  return namesInstructions(seen) || PART.test(seen);
}
