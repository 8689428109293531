import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fillRange, rangeRequestFor, declaredTools } from './range-request.ts';

const call = (toolName: string, toolInput: unknown) =>
  ({ index: 0, role: 'user', kind: 'tool_result', text: '', toolName, toolInput }) as const;

/** Returns how to request lines 13 to 24 with a tool whose input is declared by `properties`. */
function requestedLines(
  toolName: string,
  toolInput: unknown,
  properties?: object,
): string | undefined {
  const schema = { type: 'object', properties };
  const tools = properties === undefined ? [] : [{ name: toolName, input_schema: schema }];
  const words = rangeRequestFor(call(toolName, toolInput), declaredTools({ tools }));
  return words === undefined ? undefined : fillRange(words, 12, 24);
}

const number = { type: 'number' };

test('words the request for lines with the parameters that a file reader declares', () => {
  const path = { path: 'a.ts' };
  const zero = { type: 'number', description: 'The 0-based line to start reading from.' };
  for (const [name, properties, expected] of [
    ['Read', { offset: number, limit: number }, 'Read with offset 13 and limit 12'],
    ['read_file', { offset: zero, limit: number }, 'read_file with offset 12 and limit 12'],
    [
      'read_file',
      { start_line: number, end_line: number },
      'read_file with start_line 13 and end_line 24',
    ],
    [
      'readFile',
      { startLine: number, endLine: number },
      'readFile with startLine 13 and endLine 24',
    ],
    [
      'mcp__fs__view_file',
      { line_range: { type: 'array', items: number } },
      'mcp__fs__view_file with line_range [13, 24]',
    ],
    ['read_file', { line_range: { type: 'string' } }, 'read_file with line_range 13-24'],
    [
      'read_file',
      {
        files: {
          type: 'array',
          items: {
            type: 'object',
            properties: { line_ranges: { type: 'array', items: { type: 'string' } } },
          },
        },
      },
      'read_file with line_ranges 13-24',
    ],
  ] as const)
    assert.is(requestedLines(name, path, properties), expected);
  assert.is(
    requestedLines('Read', { file_path: 'a.ts' }),
    'Read with offset 13 and limit 12',
    'Claude Code',
  );
  assert.is(
    requestedLines('str_replace_based_edit_tool', { command: 'view', path: 'a.ts' }),
    'str_replace_based_edit_tool with view_range [13, 24]',
  );
});

test('finds the declared parameters in every dialect that declares tools', () => {
  const parameters = { properties: { offset: number, limit: number } };
  for (const tools of [
    [{ type: 'function', function: { name: 'Read', parameters } }],
    [{ type: 'function', name: 'Read', parameters }],
    [{ functionDeclarations: [{ name: 'Read', parameters }] }],
    [{ functionDeclarations: [{ name: 'Read', parametersJsonSchema: parameters }] }],
  ])
    assert.is(
      rangeRequestFor(call('Read', { path: 'a' }), declaredTools({ tools })),
      'Read with offset {from} and limit {count}',
    );
});

test('asks for no lines of tools that take no range, were already given one, or read no file', () => {
  const range = { offset: number, limit: number };
  assert.is(requestedLines('read_file', { path: 'a.ts' }, { path: number }), undefined);
  assert.is(requestedLines('Read', { path: 'a.ts', offset: 40 }, range), undefined);
  assert.is(requestedLines('Read', { path: 'a.ts', limit: 40 }, range), undefined);
  assert.is(requestedLines('list_issues', { owner: 'a' }, range), undefined);
  assert.is(requestedLines('write_page', { path: 'a.ts' }, range), undefined);
  assert.is(
    requestedLines('str_replace_editor', { command: 'view', path: 'a.ts', view_range: [1, 40] }),
    undefined,
  );
  assert.type(
    requestedLines(
      'view',
      { path: 'a.ts', view_range: [1, -1] },
      { view_range: { type: 'array' } },
    ),
    'string',
  );
  assert.type(requestedLines('Read', { path: 'a.ts', offset: 0 }, range), 'string');
});

test('asks for lines of shell output with sed, unless that would run or write something again', () => {
  const piped = "the same command with | sed -n '13,24p' behind it";
  for (const [command, expected] of [
    ['cat src/a.ts', "sed -n '13,24p' src/a.ts"],
    ['cat -n "my file.ts"', "sed -n '13,24p' 'my file.ts'"],
    ['cd /w/app && cat a.ts', "cd /w/app && sed -n '13,24p' a.ts"],
    ["bash -lc 'cat a.ts'", "sed -n '13,24p' a.ts"],
    ['bash -lc cat a.ts', "sed -n '13,24p' a.ts"],
    ['git show HEAD:a.ts', piped],
    ['cat a.ts b.ts', piped],
    ['cat *.ts', piped],
    ['cat a.ts | grep -v foo', piped],
    ['cat a.ts; cat b.ts', "the same command in { …; } | sed -n '13,24p'"],
    ['sudo cat /etc/a.conf', piped],
    ['docker exec web cat /w/a.ts', piped],
    ['kubectl exec web -- cat /w/a.ts', piped],
    ['cat $FILE', piped],
    ['cat "$HOME/a.ts"', piped],
    ['cd $DIR && cat a.ts', "the same command in { …; } | sed -n '13,24p'"],
  ] as const)
    assert.is(requestedLines('Bash', { command }), expected, command);
  for (const command of [
    'head -500 a.ts',
    "sed -n '1,500p' a.ts",
    'cat a.ts | tail -n +20',
    'python a.py',
    'npm test',
    'cat a.ts > b.ts',
    'cat a.ts | tee b.ts',
    'git log -p',
    'git checkout a.ts && cat a.ts',
    'find . -name x -exec rm {} +',
    'find . -delete',
    'cat $(make list)',
    'cat `make list`',
    'cat <(make list)',
    'bash list.sh',
    'fd -e py -x cat',
    'curl -s https://example.test/a.ts',
  ])
    assert.is(requestedLines('Bash', { command }), undefined, command);
});

test.run();
