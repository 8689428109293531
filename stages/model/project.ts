/**
 * Which project a request is for: the header `x-svc-project`, else the project of its key, else the
 * working directory that known agents name in their prompt. A name, never a path: only a folder's
 * own name is kept, and nothing of a home folder (decisions §10).
 */
import { cutText } from '../../engine/index.ts';
import type { Block } from './block.ts';
import type { BodyFrame } from './body.ts';
import { headerValue } from './headers.ts';

/** The header that names a project. */
export const PROJECT_HEADER = 'x-svc-project';

/**
 * Maximum length of the name of a project or a key: as much as ledger rows keep of an outside text.
 */
export const MAX_NAME_CHARS = 200;

/** Returns the project as the sender or its key names it; null if neither does. */
export function namedProject({ headers, caller }: Pick<BodyFrame, 'headers' | 'caller'>) {
  const header = asUtf8(headerValue(headers, PROJECT_HEADER))?.trim();
  if (header !== undefined && header !== '')
    return isPath(header) ? folderName(header) : clip(header);
  return caller?.project ?? null;
}

/** Node reads header bytes as Latin-1; shells and most clients send UTF-8. */
function asUtf8(value: string | undefined): string | undefined {
  const text = value && Buffer.from(value, 'latin1').toString('utf8');
  return text?.includes('\ufffd') === true ? value : text;
}

const LISTED = /^[\s*-]*(?:Primary w|Current w|W)orking directory:[ \t]*([^\n]+)/;

/**
 * How agents state their working directory, as of November 2026. Each pattern is given the line
 * that contains the needle, and the next one. Needles begin with characters that are rare in prose:
 * searching a text for one takes some microseconds, and a hundred for one that begins with an `o`.
 */
const SIGNS: readonly (readonly [needle: string, path: RegExp])[] = [
  // Claude Code.
  ['Primary working directory:', LISTED],
  // Claude Code until 2025, opencode, Crush.
  ['Working directory:', LISTED],
  // pi.
  ['Current working directory:', LISTED],
  // Codex.
  ['<cwd>', /<cwd>([^<\n]+)<\/cwd>/],
  // Cline, and Roo Code and its relatives.
  ['# Current Work', /^# Current (?:Working|Workspace) Directory \(([^\n]+)\) Files/],
  // Gemini CLI and Qwen Code; with several folders the first is used.
  [
    "I'm currently working in the ",
    /I'm currently working in the (?:directory:[ \t]*|following directories:\s*[-*]\s*)([^\n]+)/,
  ],
  // Cursor.
  ['Workspace Path:', /^Workspace Path:[ \t]*([^\n]+)/],
  // Copilot in VS Code.
  [
    'I am working in a workspace with ',
    /I am working in a workspace with the following folders?:\s*[-*]\s*([^\n]+)/,
  ],
];

/** Prompts of agents state it early; the rest of a long text is not searched. */
const MAX_CHARS = 200_000;
/**
 * Maximum lines checked for one sign in a text: a prompt may mention working directories before it
 * names its own.
 */
const MAX_LINES = 20;

/**
 * Returns the name of the folder that the prompt gives as the agent's working directory; null if it
 * gives none.
 */
export function projectInPrompt(blocks: readonly Block[]): string | null {
  let left = MAX_CHARS;
  for (const { role, kind, text } of blocks) {
    // What follows the first answer is not part of the agent's initial prompt.
    if (role === 'assistant' || left <= 0) break;
    if (role === 'tool' || (kind !== 'system' && kind !== 'text')) continue;
    const found = folderIn(text.length > left ? text.slice(0, left) : text);
    if (found !== undefined) return folderName(found);
    left -= text.length;
  }
  return null;
}

/** Returns the path of the first sign in a text that names one. */
function folderIn(text: string): string | undefined {
  for (const [needle, path] of SIGNS) {
    let at = text.indexOf(needle);
    for (let lines = 0; at >= 0 && lines < MAX_LINES; lines += 1) {
      const start = text.lastIndexOf('\n', at) + 1;
      const first = text.indexOf('\n', at);
      const second = first < 0 ? -1 : text.indexOf('\n', first + 1);
      const found = path.exec(text.slice(start, second < 0 ? undefined : second))?.[1]?.trim();
      if (found !== undefined && isPath(found)) return found;
      at = text.indexOf(needle, at + needle.length);
    }
  }
  return undefined;
}

/** Returns true for text that begins like a folder's path, on any system. */
function isPath(text: string): boolean {
  return /^["'`]?(?:\/|~[\\/]?|[A-Za-z]:[\\/]|\\\\)/.test(text);
}

/** Home folders: they are named after persons. Also file system roots, which name nothing. */
const HOME =
  /^(?:\/(?:home|Users|var\/home|export\/home)(?:\/[^/]+)?|\/root|~|[A-Za-z]:|[A-Za-z]:\/Users(?:\/[^/]+)?|)$/;

/** A regular expression anchored only at the end takes quadratic time. */
function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

/** Returns the last part of a path; null for a root and for a home folder. */
function folderName(path: string): string | null {
  const plain = withoutEnd(path.replace(/^["'`]+/, ''), '"\'`').replaceAll('\\', '/');
  const whole = withoutEnd(plain, '/');
  if (HOME.test(whole)) return null;
  const name = whole.slice(whole.lastIndexOf('/') + 1).trim();
  return name === '' || name === '~' ? null : clip(name);
}

/**
 * Cut as in ledger rows, so that a budget recognises a project after a restart; it is outside text
 * and stays in memory.
 */
function clip(name: string): string {
  return cutText(name, MAX_NAME_CHARS);
}
