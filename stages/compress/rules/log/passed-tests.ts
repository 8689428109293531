/**
 * Lines of passed tests, in the output of runners that frame what each test prints. Such lines may
 * be full of errors that the tests expect.
 */

const TEST_BEGIN = /^=== RUN {3}([^\s/]+)$/;
const TEST_END = /^--- (PASS|FAIL|SKIP): (\S+) \(/;

/** Returns the indexes of those lines, frames included; `lines` have no time stamps. */
export function passedLines(lines: readonly string[]): ReadonlySet<number> {
  const passed = new Set<number>();
  let open: { readonly name: string; readonly from: number } | undefined;
  let last: boolean | undefined;
  lines.forEach((line, at) => {
    const started = line.startsWith('=== RUN') ? TEST_BEGIN.exec(line)?.[1] : undefined;
    const [, how, name] = line.startsWith('--- ') ? (TEST_END.exec(line) ?? []) : [];
    if (started !== undefined) {
      open = { name: started, from: at };
      last = undefined;
    } else if (how !== undefined) {
      last = how === 'PASS';
      if (last && open?.name === name) for (let n = open!.from; n <= at; n++) passed.add(n);
      open = undefined;
    } else if (last === true) {
      // Subtests follow indented, and so does a test's output in old versions.
      if (/^ {4}/.test(line)) passed.add(at);
      else last = undefined;
    }
  });
  return passed;
}
