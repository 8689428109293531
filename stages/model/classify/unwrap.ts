/** The program that really runs, behind `sudo`, `env A=b`, `npx`, `docker exec` and the like. */

/** Programs that run another one, and the letters of their flags that take a value. */
const WRAPPERS: ReadonlyMap<string, string> = new Map([
  ['sudo', 'ugphCrt'],
  ['doas', 'uC'],
  ['env', 'uCS'],
  ['xargs', 'nIPLdEsa'],
  ['nice', 'n'],
  ['timeout', 'ks'],
  ['gtimeout', 'ks'],
  ['ionice', 'cnp'],
  ['stdbuf', 'ioe'],
  ['npx', 'pc'],
  ['watch', 'n'],
  ['time', 'of'],
  ...'bunx pnpx uvx pipx command exec nohup builtin unbuffer busybox setsid chronic strace ltrace'
    .split(' ')
    .map((name) => [name, ''] as const),
]);

/** The same in two words, and how many operands stand before the program. */
const RUNNERS: ReadonlyMap<string, number> = new Map([
  ...'poetry uv pipenv hatch pdm rye conda'.split(' ').map((name) => [`${name} run`, 0] as const),
  ...'bundle pnpm yarn npm direnv mise'.split(' ').map((name) => [`${name} exec`, 0] as const),
  ...'pnpm yarn'.split(' ').map((name) => [`${name} dlx`, 0] as const),
  ...'docker podman docker-compose kubectl'.split(' ').map((name) => [`${name} exec`, 1] as const),
]);

const ASSIGNMENT = /^\w+=/;
const DURATION = /^\d+(?:\.\d+)?[smhd]?$/;

/** The words of a simple command from its program on; the program's folder and ending taken off. */
export function unwrap(words: readonly string[]): readonly string[] {
  let rest = words;
  for (;;) {
    const start = rest.findIndex((word) => !ASSIGNMENT.test(word));
    if (start < 0) return [];
    const name = nameOf(rest[start]!);
    rest = [name, ...rest.slice(start + 1)];
    const inner = innerOf(name, rest.slice(1));
    if (inner.length === 0) return normalise(rest);
    rest = inner;
  }
}

/** What `name` runs; empty where it runs nothing else. */
function innerOf(name: string, args: readonly string[]): readonly string[] {
  const flags = WRAPPERS.get(name);
  if (flags !== undefined)
    return afterFlags(args, flags).filter((word, at) => at > 0 || !DURATION.test(word));
  if (/^(?:python|pypy)[\d.]*$|^py$/.test(name)) return pythonRuns(args);
  if (name === 'docker' && args[0] === 'compose') return ['docker-compose', ...args.slice(1)];
  const operands = RUNNERS.get(`${name} ${args[0]}`);
  if (operands === undefined) return [];
  const dashes = args.indexOf('--');
  return dashes > 0 ? args.slice(dashes + 1) : afterFlags(args.slice(1), 'uewnc').slice(operands);
}

function pythonRuns(args: readonly string[]): readonly string[] {
  const module = args.indexOf('-m');
  if (module >= 0) return args.slice(module + 1);
  const script = afterFlags(args, 'WX');
  return /^[\w./-]+\.py$/.test(script[0] ?? '') ? script : [];
}

/** The arguments behind leading flags, values of those flags and assignments. */
function afterFlags(args: readonly string[], withValue: string): readonly string[] {
  let at = 0;
  for (; at < args.length; at++) {
    const arg = args[at]!;
    if (/^-\w$/.test(arg) && withValue.includes(arg[1]!)) at++;
    else if (!arg.startsWith('-') && !ASSIGNMENT.test(arg)) break;
  }
  return args.slice(at);
}

function nameOf(word: string): string {
  const name = word.slice(Math.max(word.lastIndexOf('/'), word.lastIndexOf('\\')) + 1);
  return name.replace(/\.(?:exe|cmd|bat|ps1|py|sh|js)$/i, '').toLowerCase() || name;
}

/** Flags of the program itself that stand before its subcommand, `git -C folder diff`. */
function normalise(words: readonly string[]): readonly string[] {
  const [name, ...args] = words;
  return name === 'git' || name === 'kubectl' ? [name, ...afterFlags(args, 'Ccn')] : words;
}
