/**
 * `svc statusline` without the rest of the program: it is started after every message, so it loads
 * no command, no parser and no configuration. Arguments that it does not understand are left to the
 * command.
 */
import { writeSync } from 'node:fs';
import { homedir } from 'node:os';
import { SHOWN_IN } from './line.ts';
import { readStream } from './read-input.ts';
import { statuslineText } from './show.ts';
import type { StatuslineOptions } from './show.ts';

/**
 * Prints the line for `input`; false, having done nothing, if the arguments need the whole program:
 * help, or a mistake.
 */
export async function printFast(
  argv: readonly string[],
  input = () => readStream(process.stdin),
): Promise<boolean> {
  const options = fastOptions(argv);
  if (options === undefined) return false;
  const text = await statuslineText(options, {
    env: process.env,
    userHome: homedir(),
    cwd: process.cwd(),
    nowMs: Date.now(),
    input,
  });
  try {
    writeSync(1, text);
  } catch {
    // The reader has gone.
  }
  return true;
}

/** Parses the command's options, in their plain forms only. */
export function fastOptions(argv: readonly string[]): StatuslineOptions | undefined {
  const given = new Map<string, string>();
  let hasColors = true;
  for (let at = 0; at < argv.length; at += 1) {
    const arg = argv[at]!;
    const [, name, value] = /^(--(?:format|for|width))(?:=([^]*))?$/.exec(arg) ?? [];
    if (arg === '--no-color') hasColors = false;
    else if (name === undefined) return undefined;
    else {
      if (value === undefined) at += 1;
      const known = value ?? argv[at];
      if (known === undefined) return undefined;
      given.set(name, known);
    }
  }
  const shownIn = SHOWN_IN.find((one) => one === (given.get('--for') ?? SHOWN_IN[0]));
  const width = given.get('--width');
  if (shownIn === undefined || (width !== undefined && !/^[1-9]\d{0,3}$/.test(width)))
    return undefined;
  return {
    format: given.get('--format'),
    shownIn,
    hasColors,
    width: width === undefined ? undefined : Number(width),
  };
}
