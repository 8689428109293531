/** Which tools and MCP servers a request used, in the audit log and in exported spans. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestProxy } from '../../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import { auditFiles } from '../../../stages/audit/files.ts';
import { resultsToCsv } from '../../../stages/ledger/tools/results-forms.ts';

const LIST = 'mcp__github__list_issues';
const SECRET = 'nobody may read this result';

const call = (id: string, name: string) => ({ type: 'tool_use', id, name, input: {} });
const result = (id: string, more = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: SECRET,
  ...more,
});
const WITH_TOOLS = json(MESSAGE, {
  messages: [
    { role: 'user', content: 'What is open?' },
    { role: 'assistant', content: [call('a', 'Bash'), call('b', LIST)] },
    { role: 'user', content: [result('a', { is_error: true }), result('b')] },
  ],
  tools: [{ name: 'mcp__files__read', description: 'Reads.', input_schema: { type: 'object' } }],
});

const read = (file: string) =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

test('the ledger and the reports agree on tools, their servers and the cost of definitions', async () => {
  const t = await startTestProxy({
    yaml: `audit: { enabled: true }
telemetry: { enabled: true, endpoint: 'http://127.0.0.1:9' }`,
  });
  try {
    await exchange(t.proxy.port, { body: WITH_TOOLS });
    await exchange(t.proxy.port, { body: json(MESSAGE, {}) });
    const [row] = (await t.rows(2)).filter(({ toolResults }) => toolResults !== null);
    assert.ok(row?.toolResults);
    const words = resultsToCsv(row.toolResults);
    assert.match(words, /^Bash=1\/1\/\d+\/\d+ mcp__github__list_issues=1\/0\/\d+\/\d+$/);
    assert.ok(row.toolDefinitionTokens);
    await t.proxy.stop(true);

    const audited = read(auditFiles(dirname(t.db)).log).filter(({ kind }) => kind === 'request');
    const [withTools, without] = audited;
    assert.equal(withTools?.['tools'], words.split(' '));
    assert.equal(withTools?.['mcp_servers'], ['github', 'files']);
    assert.is(withTools?.['tool_definition_tokens'], row.toolDefinitionTokens);
    assert.is(withTools?.['tool_definition_cost_nano_usd'], row.costToolDefinitionsNanoUsd);
    assert.is(without?.['tools'], null);
    assert.is(without?.['mcp_servers'], null);

    const spans = read(join(dirname(t.db), 'telemetry.jsonl')).flatMap(({ attributes }) =>
      attributes === undefined ? [] : [attributes as Readonly<Record<string, unknown>>],
    );
    const [span] = spans.filter((one) => one['svc.request.id'] === row.id);
    assert.is(span?.['svc.tools'], words);
    assert.is(span?.['svc.mcp_servers'], 'github files');
    assert.is(span?.['svc.tokens.tool_definitions'], row.toolDefinitionTokens);
    assert.is(spans.filter((one) => 'svc.tools' in one).length, 1, 'none without tools');
    assert.not.ok(JSON.stringify([audited, spans]).includes(SECRET), 'no contents');
  } finally {
    await t.close();
  }
});

test.after(closeClients);
test.run();
