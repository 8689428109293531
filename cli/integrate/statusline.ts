/** Claude Code's statusline as a change of its settings, independent of where its requests go. */
import { accessSync, constants, existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { CliContext } from '../context.ts';
import { homeOf } from '../context.ts';
import type { Change, Client } from './client.ts';

/** Next to the program's entry: a bundle of the statusline alone, which Node starts faster. */
export const STATUSLINE_FILE = 'statusline/start.cjs';

/** Id in the list of changes. */
export const STATUSLINE_ID = 'claude-code-statusline';

/** Returns `claudeCode` with the statusline instead of the address; `command` is what it runs. */
export function withStatusline(claudeCode: Client, command: string): Client {
  const changes: readonly Change[] = [
    { path: ['statusLine', 'type'], value: 'command' },
    { path: ['statusLine', 'command'], value: command },
  ];
  return {
    ...claudeCode,
    id: STATUSLINE_ID,
    name: "Claude Code's statusline",
    ...(claudeCode.file && {
      file: {
        ...claudeCode.file,
        requiredChanges: () => ({ changes, remarks: [] }),
        isOwn: (path, value) =>
          path[0] === 'statusLine' &&
          (value === 'command' || (typeof value === 'string' && OWN_COMMAND.test(value))),
      },
    }),
    settings: () => [JSON.stringify({ statusLine: { type: 'command', command } })],
    notes: ['`svc help statusline` says what it shows, and how to choose.'],
  };
}

/** Matches the output of `statuslineCommand`, even if svc has moved since. */
const OWN_COMMAND =
  /^(?:SVC_HOME='[^\n]*' )?(?:svc statusline|'[^\n]*' '[^\n]*main\.js' statusline|(?:node|'[^\n]*') '[^\n]*statusline\/start\.cjs')$/;

/**
 * Returns the shell command for the statusline: its own file, run by `node` from the path if npm
 * installed svc there, since today's Node may be gone after an update.
 */
export function statuslineCommand(context: CliContext): string {
  const { env, entry, userHome } = context;
  const home = homeOf(context);
  const variable = home === join(userHome, '.svc') ? '' : `SVC_HOME=${quoted(home)} `;
  const file = join(dirname(entry), STATUSLINE_FILE);
  const isInstalled = isOnPath(env['PATH'] ?? '', entry);
  if (existsSync(file))
    return `${variable}${isInstalled ? 'node' : quoted(process.execPath)} ${quoted(file)}`;
  // In a build with a planted defect, which has no bundle.
  return `${variable}${quoted(process.execPath)} ${quoted(entry)} statusline`;
}

function isOnPath(path: string, entry: string): boolean {
  for (const folder of path.split(delimiter).filter((one) => one !== '')) {
    const file = join(folder, 'svc');
    try {
      accessSync(file, constants.X_OK);
      return realpathSync(file) === realpathSync(entry);
    } catch {
      // Not in this folder.
    }
  }
  return false;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
