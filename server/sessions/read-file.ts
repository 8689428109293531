/** Reads the conversations of one session file of any client. */
import { readFile, stat } from 'node:fs/promises';
import { SvcError } from '../../engine/index.ts';
import { isCaptureFile } from '../../stages/captures/files.ts';
import { isObject, listOf, parseJson } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { readCaptured } from './captures.ts';
import { ClaudeCodeReader } from './claude-code.ts';
import { CodexReader } from './codex.ts';
import { GeminiReader } from './gemini.ts';
import { linesOf } from './lines.ts';
import { opencodeBytes, readOpencode } from './opencode.ts';
import type { LineReader, SessionFile } from './session.ts';

/** In bytes; a larger file is refused, since its contents are held in memory. */
const MAX_FILE_BYTES = 512 * 1024 * 1024;
/** A database is copied, and read session by session. */
const MAX_DATABASE_BYTES = 4 * 1024 * 1024 * 1024;

/**
 * Reads `path`, conversation by conversation. Writes nothing.
 *
 * @throws SvcError `bad_request` for a file that is too large, broken or of an unknown kind.
 */
export async function* readSessionFile(path: string): AsyncGenerator<SessionFile> {
  if (path.endsWith('.db')) yield* readDatabase(path);
  else {
    const { size } = await stat(path);
    if (size > MAX_FILE_BYTES) throw tooLarge(size, MAX_FILE_BYTES);
    if (isCaptureFile(path)) yield await readCaptured(path);
    else if (path.endsWith('.json')) yield readDocument(await readFile(path, 'utf8'));
    else yield await readLines(linesOf(path));
  }
}

/** Same for the text of a file in memory. Undefined for another kind. */
export function readSessionText(text: string): SessionFile | undefined {
  const taker = createSessionParser();
  for (const line of text.split('\n')) taker.take(line);
  return taker.end();
}

async function readLines(lines: AsyncIterable<string | undefined>): Promise<SessionFile> {
  const taker = createSessionParser();
  for await (const line of lines) taker.take(line);
  const file = taker.end();
  if (file === undefined) throw unknownKind();
  return file;
}

/** Lines that do not identify the client may come first. */
const MAX_WAITING = 200;

function createSessionParser() {
  let reader: LineReader | undefined;
  let waiting: JsonObject[] = [];
  let unread = 0;
  return {
    take(text: string | undefined): void {
      if (text?.trim() === '') return;
      const line = text === undefined ? undefined : parseJson(text);
      if (!isObject(line)) {
        unread += 1;
        return;
      }
      reader ??= readerFor(line);
      if (reader === undefined) {
        if (waiting.length < MAX_WAITING) waiting.push(line);
        return;
      }
      for (const before of waiting) reader.take(before);
      waiting = [];
      reader.take(line);
    },
    end(): SessionFile | undefined {
      return reader === undefined ? undefined : { conversations: reader.end(), unread };
    },
  };
}

/** Recognizes the client by the first line that only one client writes. */
function readerFor(line: JsonObject): LineReader | undefined {
  const { type, message, payload } = line;
  if (isObject(payload) && typeof line['timestamp'] === 'string') return new CodexReader();
  if (typeof line['projectHash'] === 'string') return new GeminiReader();
  const isMessage = isObject(message) && ['user', 'assistant'].includes(String(message['role']));
  // Qwen Code writes messages of another shape.
  if (isMessage && type === message['role'] && message['parts'] === undefined)
    return new ClaudeCodeReader();
  return undefined;
}

/** Reads a document of Gemini CLI's older versions. */
function readDocument(text: string): SessionFile {
  const json = parseJson(text);
  if (!isObject(json) || json['projectHash'] === undefined || listOf(json['messages']).length === 0)
    throw unknownKind();
  const reader = new GeminiReader();
  reader.take(json);
  return { conversations: reader.end(), unread: 0 };
}

function* readDatabase(path: string): Generator<SessionFile> {
  const sizeBytes = opencodeBytes(path);
  if (sizeBytes > MAX_DATABASE_BYTES) throw tooLarge(sizeBytes, MAX_DATABASE_BYTES);
  try {
    for (const conversations of readOpencode(path)) yield { conversations, unread: 0 };
  } catch (cause) {
    const code = String((cause as { code?: unknown }).code);
    if (!code.startsWith('SQLITE')) throw cause;
    throw new SvcError('bad_request', `not a readable OpenCode database (${code})`, {
      cause,
    });
  }
}

function tooLarge(sizeBytes: number, maxBytes: number): SvcError {
  const inMb = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
  return new SvcError('bad_request', `it has ${inMb(sizeBytes)}; ${inMb(maxBytes)} are the most`);
}

function unknownKind(): SvcError {
  return new SvcError('bad_request', 'not a session file of a known client');
}
