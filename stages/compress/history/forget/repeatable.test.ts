import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isRepeatable } from './repeatable.ts';

const result = (toolName: string, toolInput: unknown) =>
  ({ index: 0, role: 'user', kind: 'tool_result', text: '', toolName, toolInput }) as const;
const again = (command: string) => isRepeatable(result('Bash', { command }));

test('treats calls that only read, check or build as repeatable', () => {
  for (const command of [
    'cat src/a.ts | head -40',
    'cd /w && git -C sub log --oneline -20',
    'grep -rn foo src 2>/dev/null',
    'npm test',
    'npm run -s test:unit -- --watch=false',
    'make -C lib check 2>&1 | tail -20',
    'cargo build --release',
    'timeout 60 pytest -q tests',
    'kubectl -n web get pods -o wide',
    'terraform plan',
  ])
    assert.ok(again(command), command);
  const shell = { command: ['bash', '-lc', "cd 'my app' && cat a.ts"] };
  assert.ok(isRepeatable(result('shell', shell)));
  for (const name of ['Read', 'mcp__files__readText', 'get_order_details', 'list_posts'])
    assert.ok(isRepeatable(result(name, { path: 'a.ts' })), name);
  assert.ok(isRepeatable(result('str_replace_editor', { command: 'view', path: 'a.py' })));
});

test('treats calls with effects, and answers from people, as not repeatable', () => {
  for (const command of [
    'git push origin main',
    'git log -3 && git commit -am x',
    'npm publish',
    'npm run deploy',
    'make install',
    'terraform apply -auto-approve',
    'curl -X POST https://example.com/orders',
    'psql -c "DELETE FROM users"',
    'rm -rfv build',
    'find . -name "*.o" -delete',
    'kubectl delete pod a',
    './release.sh',
    'python train.py',
    'ls > files.txt',
  ])
    assert.not(again(command), command);
  for (const name of [
    'Edit',
    'mcp__linear__create_issue',
    'open_pull_request',
    'update_and_get',
    'mcp__playwright__browser_click',
    'BashOutput',
    'Task',
    'get_user_answer',
  ])
    assert.not(isRepeatable(result(name, { path: 'a.ts' })), name);
  assert.not(isRepeatable(result('shell', { command: ['bash', '-lc', 'git push'] })));
  assert.not(isRepeatable(result('str_replace_editor', { command: 'insert', path: 'a.py' })));
});

test.run();
