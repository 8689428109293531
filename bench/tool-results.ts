/**
 * A turn of an agent that has searched, listed, built, queried and compared: long tool results of
 * several kinds, most of which compress.
 */
import type { Workload } from './workloads.ts';

/**
 * Placeholder that the load generator replaces by the request's number, so that every text is new.
 */
export const SERIAL = 'SERIAL00';

const LINES = 400;

const times = (line: (n: number) => string, count: number): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');

/** Each tool's command and output, most of them `lines` long; `mark` is in every line. */
export const resultsOf = (
  lines: number,
  mark: string,
): readonly (readonly [command: string, output: string])[] => [
  [
    `grep -rn handle${mark} src`,
    times(
      (n) => `src/part-${n >> 4}/handler.ts:${n * 3 + 1}:  const item${n} = handle${mark}(${n});`,
      lines,
    ),
  ],
  [
    'find src -name "*.ts"',
    times((n) => `src/packages/group-${n >> 5}/module-${mark}-${n}/index.ts`, lines),
  ],
  [
    'curl -s localhost/items',
    JSON.stringify(
      Array.from({ length: lines / 2 }, (_, id) => ({
        id,
        name: `item ${mark} ${id}`,
        url: `https://example.com/items/${id}`,
        state: id % 3 === 0 ? 'open' : 'closed',
        owner: { login: `user-${id % 9}`, site: false },
      })),
      null,
      2,
    ),
  ],
  [
    'npm run build',
    times(
      (n) =>
        n === 250
          ? `src/app.ts:3:1 - error TS2322: Type ${mark} is not assignable`
          : `[12:0${n % 10}:07] compiling module-${mark}-${n} in ${n % 17} ms`,
      lines,
    ),
  ],
  [
    'git diff',
    [
      'diff --git a/src/app.ts b/src/app.ts',
      'index 1234567..89abcde 100644',
      '--- a/src/app.ts',
      '+++ b/src/app.ts',
      `@@ -1,${lines} +1,${lines + lines / 10} @@`,
      times(
        (n) => (n % 10 === 5 ? ` kept(${n});\n+added(${n}, '${mark}');` : ` kept(${n});`),
        lines,
      ),
      '',
    ].join('\n'),
  ],
  [
    'pytest -x',
    [
      'Traceback (most recent call last):',
      times(
        (n) =>
          `  File "${n % 10 === 0 ? '/app/src' : '/usr/lib/python3.11'}/step_${n}.py", line ${n + 7}, in step_${n}\n    return step_${n + 1}('${mark}')`,
        Math.min(60, lines),
      ),
      `ValueError: ${mark} is too small`,
    ].join('\n'),
  ],
];

/** The messages of the turn. */
const messagesOf = (lines: number) => [
  { role: 'user', content: `Why does the build of ${SERIAL} fail?` },
  ...resultsOf(lines, SERIAL).flatMap(([command, content], n) => [
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: `t${n}`, name: 'Bash', input: { command } }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${n}`, content }] },
  ]),
];

/**
 * Returns the turn as a workload; each request is new, with results of about `lines` lines, a
 * multiple of ten.
 */
export function toolResults({ path, headers }: Workload, lines = LINES, connections = 4): Workload {
  const messages = messagesOf(lines);
  const body = JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 1024, messages });
  return {
    name: 'tool-results',
    about: `POST ${Math.round(body.length / 1024)} KB of tool results that nobody has seen before, answer 1.5 KB, ${connections} connections as fast as they go`,
    path,
    headers,
    body,
    serial: SERIAL,
    connections,
    events: 0,
  };
}
