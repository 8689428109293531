/**
 * Prose of which every sentence counts, whatever it has to do with the question: instructions for
 * whoever works on a project, and lines that a command asked for by their numbers.
 */
import { programsOf } from '../../model/classify/command.ts';
import type { ClassifyHints } from '../../model/classify/hints.ts';

/** Files by which people tell agents and contributors what to do, and what agents note for later. */
const INSTRUCTIONS =
  /(?:^|[/\s"'=])(?:(?:AGENTS?|CLAUDE|GEMINI|QWEN|CRUSH|CODEX|CONVENTIONS|CONTRIBUTING|HACKING|SKILL|MEMORY|PROMPT|INSTRUCTIONS|RULES|TODO|PLAN)(?:\.[\w-]{1,20})?\.(?:md|mdx|mdc|markdown|rst|txt)|[\w.-]{0,60}instructions\.md|\.(?:cursor|windsurf|cline|goose|roo|continue)\/?(?:rules|hints)\S{0,200}|\.?\w{1,20}rules\/\S{1,200}\.mdc?|\.aider\.conventions\S{0,40})(?=$|[\s"';|&)])/i;
/** A range of lines, as `sed` prints it, and so many first or last ones. */
const PART =
  /\bsed\s+(?:-\w+\s+){0,3}["']?\d+(?:,\s*[+\d$]|p)|\b(?:head|tail)\s+(?:-n\s*|-{1,2}lines[= ])?-?\+?\d/;
const SHOWING: ReadonlySet<string> = new Set(
  'cat nl head tail sed bat batcat less more cd echo'.split(' '),
);
const SEEN = 2000;

/** True for such a text, as far as its file or command shows. */
export function isReadToTheLetter({ path, command }: ClassifyHints): boolean {
  if (path !== undefined) return INSTRUCTIONS.test(path.slice(0, SEEN));
  if (command === undefined) return false;
  const seen = command.slice(0, SEEN);
  if (!programsOf(seen).every((name) => SHOWING.has(name))) return false;
  return INSTRUCTIONS.test(seen) || PART.test(seen);
}
