/**
 * A warm-up conversation that loads and compiles the code which the first real one needs: for
 * common tool output, and, if code may be changed, for source code in the most frequent languages
 * and in the one with the largest grammar.
 */
import type { CompressJob, Expected } from './job.ts';

const FUNCTIONS = 40;

const SAMPLES: Readonly<Record<string, (name: string) => string>> = {
  'a.ts': (name) =>
    `// What ${name} does.\nexport function ${name}(value: number): string {\n  // A remark.\n  return \`\${value}\` + 'x';\n}\n`,
  'b.js': (name) =>
    `// What ${name} does.\nexport function ${name}(value) {\n  // A remark.\n  return [value, 'x'];\n}\n`,
  'c.cpp': (name) =>
    `// What ${name} does.\nint ${name}(int value) {\n  // A remark.\n  return value + 1;\n}\n`,
  'd.py': (name) =>
    `# What ${name} does.\ndef ${name}(value):\n    # A remark.\n    return f"{value}" + 'x'\n\n`,
};

const LINES = 80;
/**
 * Each sample runs twice: the first run loads the code, the second brings it closer to being
 * compiled.
 */
const ROUNDS = 2;

const SAMPLE_OUTPUT: Readonly<Record<string, (n: number) => string>> = {
  'rg item src': (n) => `src/parts/item-${n % 9}.ts:${n}:  const item${n} = useItem(${n});`,
  'npm test': (n) =>
    n % 40 === 39
      ? `not ok ${n} - part ${n}\nError: expected ${n} to be 0\n    at check (src/part.ts:${n}:3)`
      : `ok ${n} - part ${n} does what it should`,
  make: (n) =>
    n === 60 ? 'src/part.c:60:3: error: unknown type' : `[${n}/80] Compiling part_${n}.c`,
  'find . -type f': (n) => `./src/parts/group-${n % 12}/item-${n}.ts`,
  'git diff': (n) =>
    n === 0
      ? 'diff --git a/a.ts b/a.ts\nindex 1234567..89abcde 100644\n--- a/a.ts\n+++ b/a.ts\n@@ -1,54 +1,79 @@'
      : `${'+- '[n % 3]}  const item${n} = ${n};`,
  'git status': (n) => `\tmodified:   src/parts/item-${n}.ts`,
  'curl -s localhost/items': (n) =>
    `{"id": ${n}, "name": "item ${n}", "url": "http://localhost/items/${n}", "done": false}`,
};

function outputOf(command: string, round: number): string {
  const line = SAMPLE_OUTPUT[command]!;
  return Array.from({ length: LINES }, (_, n) => line(n))
    .join('\n')
    .replaceAll('item', `item${round}`);
}

/** Builds the warm-up job. Its outcome is discarded. */
export function warmUpJob({ mode, recipes }: Expected): CompressJob {
  const samples = mode === 'aggressive' ? Object.entries(SAMPLES) : [];
  const results = [
    ...Array.from({ length: ROUNDS }, (_, round) =>
      Object.keys(SAMPLE_OUTPUT).map((command) => ({
        text: outputOf(command, round),
        toolName: 'Bash',
        toolInput: { command },
      })),
    ).flat(),
    ...samples.map(([path, sample]) => ({
      text: Array.from({ length: FUNCTIONS }, (_, n) => sample(`part_${n}`)).join('\n'),
      toolName: 'Read',
      toolInput: { file_path: path },
    })),
  ];
  const blocks = results.map((one, index) => ({
    ...one,
    index,
    role: 'user',
    kind: 'tool_result' as const,
  }));
  const given = recipes === undefined ? {} : { recipes };
  const options = { mode, maxChars: 120, thresholdTokens: 0, logBudgetTokens: 3500, ...given };
  return { blocks, options };
}
