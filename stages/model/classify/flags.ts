/** Command lines split into flags, their values and operands, as `getopt` reads them. */

/**
 * Flags that take the next word as their value, as written: `-u`, `--user`. A flag with a trailing
 * `#`, such as `-j#`, does so only if that word is a number.
 */
export type Valued = ReadonlySet<string>;

/** Returns a set of flags from their names, separated by whitespace. */
export function valueFlags(names: string): Valued {
  return new Set(names.split(/\s+/).filter((name) => name !== ''));
}

/** Returns how many words the leading flag takes: two with its value, 0 if it is not a flag. */
function flagWords(arg: string, next: string | undefined, takesValue: Valued): 0 | 1 | 2 {
  if (!arg.startsWith('-') || arg === '-') return 0;
  if (takesValue.has(arg)) return 2;
  if (takesValue.has(`${arg}#`)) return /^\d+(?:\.\d+)?$/.test(next ?? '') ? 2 : 1;
  if (arg.startsWith('--')) return 1;
  // Short flags can be combined; the first that takes a value has the rest as its value, or the
  // next word.
  for (let at = 1; at < arg.length; at++)
    if (takesValue.has(`-${arg[at]}`)) return at === arg.length - 1 ? 2 : 1;
  return 1;
}

/** Returns what follows the leading flags, their values and `--`. */
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

/** Returns the words that are neither flags nor values of flags. */
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
