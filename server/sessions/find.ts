/** Finds the session files of coding agents. */
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isCaptureFile } from '../../stages/captures/files.ts';
import type { Variables } from '../config/env.ts';

/** A file that may hold sessions. */
export interface SessionPath {
  readonly path: string;
  readonly changedMs: number;
}

/** Returns the folder of Claude Code's own files. */
export function claudeFolder(userHome: string, env: Variables): string {
  return env['CLAUDE_CONFIG_DIR'] || join(userHome, '.claude');
}

/** Returns the folder of Codex's own files. */
export function codexFolder(userHome: string, env: Variables): string {
  return env['CODEX_HOME'] || join(userHome, '.codex');
}

/** Returns the session folders of all supported clients that exist. */
export function sessionFolders(userHome: string, env: Variables): readonly string[] {
  const codex = codexFolder(userHome, env);
  const data = env['XDG_DATA_HOME'] || join(userHome, '.local/share');
  return [
    join(claudeFolder(userHome, env), 'projects'),
    join(codex, 'sessions'),
    join(codex, 'archived_sessions'),
    join(userHome, '.gemini/tmp'),
    join(data, 'opencode'),
  ].filter((folder) => existsSync(folder));
}

/** Maximum depth of folders searched. */
const MAX_DEPTH = 12;

/**
 * Returns every possible session file below `root`, or `root` itself. Links are not followed; read
 * errors are passed to `failed`.
 */
export function findSessions(
  root: string,
  failed: (path: string, thrown: unknown) => void,
): readonly SessionPath[] {
  const found: SessionPath[] = [];
  const visit = (path: string, depth: number): void => {
    try {
      const stat = lstatSync(path);
      if (stat.isDirectory() && depth <= MAX_DEPTH)
        for (const name of readdirSync(path)) visit(join(path, name), depth + 1);
      else if (stat.isFile() && (depth === 0 || mayBeSession(path)))
        found.push({ path, changedMs: stat.mtimeMs });
    } catch (thrown) {
      failed(path, thrown);
    }
  };
  visit(root, 0);
  return found;
}

/** Clients keep many other files next to their sessions. */
function mayBeSession(path: string): boolean {
  if (path.endsWith('.jsonl') || isCaptureFile(path)) return true;
  return /\/chats\/session-[^/]*\.json$|\/opencode\.db$/.test(path);
}
