/** Claude Code's statusline as a change of its settings, independent of where its requests go. */
import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { CliContext } from '../context.ts';
import { homeOf } from '../context.ts';
import type { Change, Client } from './client.ts';

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
        wanted: () => ({ changes, remarks: [] }),
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
const OWN_COMMAND = /^(?:SVC_HOME='[^\n]*' )?(?:svc|'[^\n]*' '[^\n]*main\.js') statusline$/;

/**
 * Returns the shell command for `svc statusline`: by name if that runs this program, else by its
 * files.
 */
export function statuslineCommand(context: CliContext): string {
  const { env, entry, userHome } = context;
  const home = homeOf(context);
  const variable = home === join(userHome, '.svc') ? '' : `SVC_HOME=${quoted(home)} `;
  const program = isOnPath(env['PATH'] ?? '', entry)
    ? 'svc'
    : `${quoted(process.execPath)} ${quoted(entry)}`;
  return `${variable}${program} statusline`;
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
