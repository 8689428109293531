/** Command lines in flags, their values and operands, as `getopt` reads them. */

/**
 * Flags that take the next word as their value, by the way they are written: `-u`, `--user`.
 * One with a `#` behind it, `-j#`, does so only where that word is a number.
 */
export type Valued = ReadonlySet<string>;

/** A set of flags from their names, with blanks between. */
export function valued(names: string): Valued {
  return new Set(names.split(/\s+/).filter((name) => name !== ''));
}

/** How many words the flag at the front is: with its value two. 0 where it is no flag. */
function flagWords(arg: string, next: string | undefined, takesValue: Valued): 0 | 1 | 2 {
  if (!arg.startsWith('-') || arg === '-') return 0;
  if (takesValue.has(arg)) return 2;
  if (takesValue.has(`${arg}#`)) return /^\d+(?:\.\d+)?$/.test(next ?? '') ? 2 : 1;
  if (arg.startsWith('--')) return 1;
  // Letters may stand together; the first that takes a value has the rest as its value, or the next word.
  for (let at = 1; at < arg.length; at++)
    if (takesValue.has(`-${arg[at]}`)) return at === arg.length - 1 ? 2 : 1;
  return 1;
}

/** What stands behind the leading flags, the values of those and `--`. */
export function afterFlags(args: readonly string[], takesValue: Valued): readonly string[] {
  let at = 0;
  while (at < args.length) {
    if (args[at] === '--') return args.slice(at + 1);
    const words = flagWords(args[at]!, args[at + 1], takesValue);
    if (words === 0) break;
    at += words;
  }
  return args.slice(at);
}

/** The words that are no flags and no values of flags, wherever they stand. */
export function operandsOf(args: readonly string[], takesValue: Valued): readonly string[] {
  const operands: string[] = [];
  for (let rest = args; rest.length > 0;) {
    const next = afterFlags(rest, takesValue);
    if (rest.length > next.length && rest[rest.length - next.length - 1] === '--')
      return [...operands, ...next];
    operands.push(...next.slice(0, 1));
    rest = next.slice(1);
  }
  return operands;
}
