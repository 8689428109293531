/** Every client's session files, read into conversations. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  ASK,
  COUNTED,
  LOG,
  SYSTEM,
  TOOLS,
  claudeCodeLines,
  codexLines,
  geminiLines,
  sentAtMs,
  writeOpencode,
} from '../../fixtures/sessions.ts';
import { toConversationBlocks } from '../../stages/compress/pass/blocks.ts';
import { asRequest } from './as-request.ts';
import { findSessions } from './find.ts';
import { linesOf } from './lines.ts';
import { readSessionFile } from './read-file.ts';
import { bodyOf } from './session.ts';
import type { Conversation } from './session.ts';

async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-sessions-test-'));
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function read(path: string): Promise<readonly Conversation[]> {
  const found: Conversation[] = [];
  for await (const { conversations } of readSessionFile(path)) found.push(...conversations);
  return found;
}

const readLines = async (lines: readonly string[], name = 's.jsonl') => {
  let found: readonly Conversation[] = [];
  await withFolder(async (folder) => {
    const path = join(folder, name);
    writeFileSync(path, lines.join('\n'));
    found = await read(path);
  });
  return found;
};

/** Returns the tool results of the last request, and the number of results in each request. */
function resultsOf(conversation: Conversation) {
  const textsIn = (count: number): readonly string[] =>
    toConversationBlocks(asRequest(conversation.dialect, bodyOf(conversation, count)))
      .filter(({ kind }) => kind === 'tool_result')
      .map(({ text }) => text);
  const { requests } = conversation;
  return {
    counts: requests.map(({ items }) => textsIn(items).length),
    texts: textsIn(requests.at(-1)!.items),
  };
}

function assertWhole(found: readonly Conversation[], client: string): void {
  assert.is(found.length, 1);
  const [conversation] = found as [Conversation];
  assert.is(conversation.client, client);
  assert.equal(resultsOf(conversation), { counts: [0, 1, 2], texts: [LOG, LOG] });
  assert.match(JSON.stringify(bodyOf(conversation, conversation.requests[0]!.items)), ASK);
  assert.equal(
    conversation.requests.map(({ atMs }) => atMs),
    COUNTED.map((_, n) => sentAtMs(n)),
  );
}

const countsOf = ({ requests }: Conversation) =>
  requests.map(({ usage }) => [
    usage?.inputTokens,
    usage?.cacheReadTokens,
    usage?.cacheWriteTokens,
  ]);

test('Claude Code: reads messages, without system prompt and tools', async () => {
  const found = await readLines(claudeCodeLines());
  assertWhole(found, 'claude-code');
  assert.equal(
    countsOf(found[0]!),
    COUNTED.map((counts) => [...counts]),
  );
  assert.is(found[0]!.sessionId, 's-1');
  assert.not('system' in found[0]!.params);
});

test('Claude Code: reads requests as they were sent, with system prompt and tools', async () => {
  const found = await readLines(claudeCodeLines({ isSent: true }));
  assertWhole(found, 'claude-code');
  assert.equal(
    countsOf(found[0]!),
    COUNTED.map((counts) => [...counts]),
  );
  assert.equal(found[0]!.params['system'], SYSTEM);
  assert.equal(found[0]!.params['tools'], TOOLS);
  const unknown = claudeCodeLines({ isSent: true })
    .filter((line) => !line.includes('"api-request-blob"'))
    .map((line) => line.replace('"tail":["', '"tail":["0'));
  const less = await readLines(unknown);
  assertWhole(less, 'claude-code');
  assert.not('system' in less[0]!.params, 'the messages are used if an item is missing');
});

test('Claude Code: reads messages that are stored on lines of their own under their hash', async () => {
  const named = claudeCodeLines({ isSent: true }).filter(
    (line) => !line.includes('"api-request-blob"') || !line.includes('"tool_result"'),
  );
  const found = await readLines(named);
  assertWhole(found, 'claude-code');
  assert.equal(found[0]!.params['system'], SYSTEM);
});

test('Claude Code: handles interleaved blocks, agents, compaction and retries', async () => {
  const line = (type: string, message: object, more: object = {}) =>
    JSON.stringify({ type, message, sessionId: 's', timestamp: '2026-01-02T03:04:05Z', ...more });
  const answer = (id: string, block: object) => ({
    id,
    role: 'assistant',
    model: 'claude-opus-4-1',
    content: [block],
  });
  const call = (id: string) => ({ type: 'tool_use', id, name: 'Read', input: {} });
  const result = (id: string) => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content: `text of ${id}` }],
  });
  const found = await readLines([
    line('user', { role: 'user', content: 'one' }),
    line('assistant', answer('m1', call('a'))),
    line('user', result('a')),
    line('assistant', answer('m1', call('b'))),
    line('user', result('b')),
    line(
      'user',
      { role: 'user', content: 'for an agent' },
      { isSidechain: true, uuid: 'x1', parentUuid: null },
    ),
    line('assistant', answer('m2', { type: 'text', text: 'done' }), {
      isSidechain: true,
      uuid: 'x2',
      parentUuid: 'x1',
    }),
    line('assistant', answer('', { type: 'text', text: 'API Error' }), {}).replace(
      'claude-opus-4-1',
      '<synthetic>',
    ),
    line('assistant', answer('m3', { type: 'text', text: 'ok' })),
    line('user', { role: 'user', content: 'Summary: …' }, { isCompactSummary: true }),
    line('assistant', answer('m4', { type: 'text', text: 'on' })),
    '{"type":"user","mess',
  ]);
  assert.equal(
    found.map(({ requests }) => requests.map(({ items }) => items)),
    [[1, 4], [1], [1]],
  );
  assert.equal(resultsOf(found[0]!).texts, ['text of a', 'text of b']);
});

test('Codex: reads items and instructions, handles compaction, and counts repeated usage once', async () => {
  const found = await readLines(codexLines());
  assertWhole(found, 'codex');
  assert.equal(
    countsOf(found[0]!),
    COUNTED.map((counts) => [...counts]),
  );
  assert.is(found[0]!.params['instructions'], 'You read logs.');
  const [meta, ...rest] = codexLines();
  const asItem = rest.map((line) => line.replace('Be brief.', 'You read logs.'));
  const [other] = await readLines([meta!, ...asItem]);
  assert.not('instructions' in other!.params, 'they are among the items');
  const compacted = JSON.stringify({
    timestamp: '2026-01-02T04:00:00Z',
    type: 'compacted',
    payload: { message: 'So far: …' },
  });
  const both = await readLines([...codexLines(), compacted, ...rest.slice(-3)]);
  assert.equal(
    both.map(({ requests }) => requests.length),
    [3, 1],
  );
});

test('Gemini CLI: reads lines, and the document of older versions', async () => {
  const found = await readLines(geminiLines());
  assertWhole(found, 'gemini-cli');
  assert.equal(
    countsOf(found[0]!),
    COUNTED.map(([plain, readTokens, written]) => [plain + written, readTokens, null]),
  );
  const messages = geminiLines()
    .slice(1)
    .flatMap((line) => JSON.parse(line).$set?.messages ?? [JSON.parse(line)])
    .filter(
      ({ id }, n, all) =>
        id !== undefined &&
        !String(id).startsWith('u') &&
        !all.some((one, index) => index > n && one.id === id),
    );
  const document = JSON.stringify({ sessionId: 'g', projectHash: 'p', messages });
  const [older] = await readLines([document], 'session-1.json');
  assert.equal(resultsOf(older!), { counts: [0, 1, 2], texts: [LOG, LOG] });
});

test('OpenCode: reads the database and creates no file beside it', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'opencode.db');
    writeOpencode(path);
    const before = readdirSync(folder);
    const found = await read(path);
    assertWhole(found, 'opencode');
    assert.equal(
      countsOf(found[0]!),
      COUNTED.map((counts) => [...counts]),
    );
    assert.is(found[0]!.vendor, 'anthropic');
    assert.equal(readdirSync(folder), before);
  }));

test('OpenCode: counts a request that only wrote to the cache, but not one that broke off', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-sessions-test-'));
  try {
    const path = join(folder, 'opencode.db');
    writeOpencode(path, 'o-1', [
      [0, 0, 6000],
      [0, 6000, 0],
      [0, 0, 0],
    ]);
    for await (const { conversations } of readSessionFile(path))
      assert.equal(
        conversations[0]!.requests.map(({ usage }) => usage?.cacheWriteTokens),
        [6000, 0, undefined],
      );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a foreign, damaged or oversized file is refused or skipped, and does not affect others', () =>
  withFolder(async (folder) => {
    const refused = async (name: string, text: string | Buffer): Promise<string> => {
      writeFileSync(join(folder, name), text);
      try {
        await read(join(folder, name));
        return '';
      } catch (thrown) {
        return (thrown as Error).message;
      }
    };
    assert.match(await refused('a.jsonl', 'hello\n{"a":1}\n'), /not a session file/);
    assert.match(await refused('b.jsonl', ''), /not a session file/);
    assert.match(await refused('session-b.json', '{"messages":'), /not a session file/);
    assert.match(
      await refused('opencode.db', 'no database at all'),
      /not a readable OpenCode database/,
    );
    assert.match(await refused('c.jsonl', Buffer.from([0xff, 0xfe, 0x00])), /not a session file/);
    writeFileSync(join(folder, 'long'), `ab\n${'x'.repeat(50)}\ncd`);
    const lines: (string | undefined)[] = [];
    for await (const line of linesOf(join(folder, 'long'), 20)) lines.push(line);
    assert.equal(lines, ['ab', undefined, 'cd']);
    const names = findSessions(folder, () => undefined).map(({ path }) =>
      path.slice(folder.length + 1),
    );
    assert.equal(names.toSorted(), ['a.jsonl', 'b.jsonl', 'c.jsonl', 'opencode.db']);
  }));

test.run();
