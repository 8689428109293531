/**
 * Sessions of OpenCode, in the database `~/.local/share/opencode/opencode.db` (seen with 1.18): one
 * row per message and per part of a message, as JSON. They contain neither system prompt nor tools.
 * A copy of the database is read, because reading one in WAL mode writes files next to it.
 */
import { constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '../../stages/sqlite.ts';
import type { SqliteConnection } from '../../stages/sqlite.ts';
import { countOf, isObject, parseJson, stringOf } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { emptyUsage, totalInputTokens } from '../../stages/model/usage.ts';
import type { Usage } from '../../stages/model/usage.ts';
import type { Conversation, SessionRequest } from './session.ts';

/**
 * Yields the conversations of every session in the database at `path`, one session at a time.
 * Throws SQLite errors.
 */
export function* readOpencode(path: string): Generator<readonly Conversation[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-sessions-'));
  try {
    const copy = join(folder, 'opencode.db');
    for (const ending of ['', '-wal'])
      if (existsSync(path + ending))
        copyFileSync(path + ending, copy + ending, constants.COPYFILE_FICLONE);
    const database = new Database(copy);
    try {
      const ids = database.prepare('SELECT id FROM session ORDER BY time_created').pluck().all();
      for (const id of ids) yield readOne(database, String(id));
    } finally {
      database.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the size of the database plus its write-ahead log, in bytes. */
export function opencodeBytes(path: string): number {
  const files = [path, `${path}-wal`].filter((file) => existsSync(file));
  return files.reduce((bytes, file) => bytes + statSync(file).size, 0);
}

interface Row {
  readonly id: string;
  readonly data: string;
}

interface Draft {
  readonly items: unknown[];
  readonly requests: SessionRequest[];
}

function readOne(database: SqliteConnection, session: string): readonly Conversation[] {
  const messages = database
    .prepare<[string], Row>('SELECT id, data FROM message WHERE session_id = ? ORDER BY id')
    .all(session);
  const partsOf = database.prepare<[string], Row>(
    'SELECT id, data FROM part WHERE message_id = ? ORDER BY id',
  );
  const drafts: Draft[] = [{ items: [], requests: [] }];
  let model: string | null = null;
  let vendor: string | undefined;
  for (const { id, data } of messages) {
    const message = parseJson(data);
    if (!isObject(message)) continue;
    const parts = partsOf.all(id).flatMap((row) => {
      const part = parseJson(row.data);
      return isObject(part) ? [part] : [];
    });
    // From here on the client sends a summary in place of everything before.
    if (parts.some(({ type }) => type === 'compaction')) drafts.push({ items: [], requests: [] });
    const { items, requests } = drafts.at(-1)!;
    if (message['role'] !== 'assistant') {
      const text = textsOf(parts);
      if (text !== '') items.push({ role: 'user', content: text });
      continue;
    }
    model = stringOf(message['modelID']) ?? model;
    vendor ??= stringOf(message['providerID']);
    requests.push({
      items: items.length,
      atMs: isObject(message['time']) ? countTime(message['time']['created']) : null,
      model,
      usage: usageOf(message['tokens']),
    });
    items.push(...responseWithResults(parts));
  }
  return drafts
    .filter(({ requests }) => requests.length > 0)
    .map(({ items, requests }) => ({
      client: 'opencode',
      sessionId: session,
      dialect: 'chat',
      params: { model },
      items,
      requests,
      ...(vendor === undefined ? {} : { vendor }),
    }));
}

const countTime = (value: unknown): number | null => (typeof value === 'number' ? value : null);

function textsOf(parts: readonly JsonObject[]): string {
  const texts = parts.flatMap(({ type, text }) =>
    type === 'text' && typeof text === 'string' ? [text] : [],
  );
  return texts.join('\n\n');
}

/** Returns a response with its calls, and their results. */
function responseWithResults(parts: readonly JsonObject[]): readonly unknown[] {
  const calls = parts.flatMap(({ type, tool, callID, state }) =>
    type === 'tool' && isObject(state) ? [{ tool, callID, state }] : [],
  );
  const named = calls.map(({ tool, callID, state }) => ({
    id: callID,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(state['input'] ?? {}) },
  }));
  const content = textsOf(parts);
  return [
    { role: 'assistant', content, ...(named.length === 0 ? {} : { tool_calls: named }) },
    ...calls.map(({ callID, state }) => ({
      role: 'tool',
      tool_call_id: callID,
      content: stringOf(state['output']) ?? stringOf(state['error']) ?? '',
    })),
  ];
}

function usageOf(figures: unknown): Usage | null {
  if (!isObject(figures)) return null;
  const cache = isObject(figures['cache']) ? figures['cache'] : {};
  const usage = {
    ...emptyUsage,
    inputTokens: countOf(figures['input']),
    cacheReadTokens: countOf(cache['read']),
    cacheWriteTokens: countOf(cache['write']),
    outputTokens: countOf(figures['output']),
    reasoningTokens: countOf(figures['reasoning']),
  };
  // A response that broke off has zero usage.
  return (totalInputTokens(usage) ?? 0) === 0 ? null : usage;
}
