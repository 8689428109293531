/**
 * Lines of passed tests, in the output of runners that frame what each test prints: such lines may
 * be full of errors that the test expects.
 */

const BEGINS = /^=== RUN {3}([^\s/]+)$/;
const ENDS = /^--- (PASS|FAIL|SKIP): (\S+) \(/;

/** Returns the indexes of those lines, frames included; `lines` are without time stamps. */
export function passedLines(lines: readonly string[]): ReadonlySet<number> {
  const passed = new Set<number>();
  let open: { readonly name: string; readonly from: number } | undefined;
  let last: boolean | undefined;
  lines.forEach((line, at) => {
    const begun = line.startsWith('=== RUN') ? BEGINS.exec(line)?.[1] : undefined;
    const [, how, name] = line.startsWith('--- ') ? (ENDS.exec(line) ?? []) : [];
    if (begun !== undefined) {
      open = { name: begun, from: at };
      last = undefined;
    } else if (how !== undefined) {
      last = how === 'PASS';
      if (last && open?.name === name) for (let n = open!.from; n <= at; n++) passed.add(n);
      open = undefined;
    } else if (last === true) {
      // Subtests, and in old versions a test's output, follow it indented.
      if (/^ {4}/.test(line)) passed.add(at);
      else last = undefined;
    }
  });
  return passed;
}
