/**
 * A conversation to begin with: source code in the languages most often seen, and in the one
 * with the largest grammar, so that what the first real one will need is loaded and compiled.
 */
import type { CompressJob } from './job.ts';

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

/** The job of that conversation. Nobody needs its outcome. */
export function warmUpJob(): CompressJob {
  const blocks = Object.entries(SAMPLES).map(([path, sample], index) => ({
    index,
    role: 'user',
    kind: 'tool_result' as const,
    text: Array.from({ length: FUNCTIONS }, (_, n) => sample(`part_${n}`)).join('\n'),
    toolName: 'Read',
    toolInput: { file_path: path },
  }));
  const options = {
    mode: 'aggressive',
    maxChars: 120,
    thresholdTokens: 0,
    logBudgetTokens: 3500,
  } as const;
  return { blocks, options };
}
