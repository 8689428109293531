/**
 * Measures the cost of remembering conversations: time added to a large request, bytes on disk, and
 * memory when full. Uses agent sessions with thinking, as a proxy sees them: every request contains
 * all earlier ones.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '../../engine/index.ts';
import { posted } from '../../fixtures/compress/stage.ts';
import { asSent } from '../../stages/conversations/as-sent.ts';
import { createConversations } from '../../stages/conversations/conversations.ts';
import type { Conversations } from '../../stages/conversations/conversations.ts';
import { textHash } from '../../stages/conversations/sent-text.ts';
import { openStore } from '../../stages/conversations/store-file.ts';
import { replaceTexts } from '../../stages/model/request.ts';
import type { ProxyRequest } from '../../stages/model/request.ts';
import type { LimitGroup, Measured } from './limit.ts';

const RESULT_CHARS = 6000;
const TOOLS = 30;
/** Bodies from about 400 KB are measured. */
const FROM_BYTES = 350_000;
const MAX_TURNS = 42;
const SESSIONS = 8;
/** Characters stored per block, and the number of long requests held. */
const SENT_CHARS = 700;
const HELD_REQUESTS = 12;
const P50_MS = 0.3;
const DISK_PERCENT = 5;
const RAM_MB = 30;

/** Returns non-repeating words from a seed. */
function textOf(seed: number, chars: number): string {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  const parts: string[] = [];
  for (let length = 0; length < chars; length += parts.at(-1)!.length + 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    parts.push(`${state.toString(36)}${state % 7 === 0 ? '\n' : ''}`);
  }
  return parts.join(' ');
}

const SYSTEM = textOf(1, 20_000);
/** Created once: a client sends the same tools in every turn. */
const tools = Array.from({ length: TOOLS }, (_, at) => ({
  name: `tool${at}`,
  description: textOf(at, 1400),
  input_schema: { type: 'object', properties: { path: { type: 'string' } } },
}));

/** Returns the messages of one call and its result. */
function turnOf(session: number, turn: number): readonly object[] {
  const id = `toolu_${session}_${turn}`;
  const thought = { type: 'thinking', thinking: textOf(turn, 200), signature: textOf(turn, 300) };
  const call = { type: 'tool_use', id, name: 'tool1', input: { path: `/src/${turn}.ts` } };
  const content = textOf(session * 1000 + turn, RESULT_CHARS);
  return [
    { role: 'assistant', content: [thought, call] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] },
  ];
}

/** Returns a session with this number of calls; each request contains the previous one. */
function longSession(session: number, turns = MAX_TURNS): readonly object[] {
  const task = { role: 'user', content: `Task ${session}: ${textOf(session, 400)}` };
  return [task, ...Array.from({ length: turns }, (_, turn) => turnOf(session, turn)).flat()];
}

/**
 * Returns a request in the state in which the memory sees it: parsed, and every fourth result
 * compressed.
 */
function requestOf(session: number, messages: readonly object[]): ProxyRequest {
  const body = { model: 'm', max_tokens: 9, system: SYSTEM, tools, messages };
  const headers = ['x-api-key', 'k', 'session-id', String(session)];
  const request = posted('/v1/messages', Buffer.from(JSON.stringify(body)), headers);
  const texts = request.original
    .blocks()
    .filter(({ kind, index }) => kind === 'tool_result' && index % 4 === 0)
    .map((block) => [block, halved(block.text)] as const);
  return replaceTexts(request, new Map(texts));
}

const halved = (text: string): string =>
  text
    .split('\n')
    .filter((_, at) => at % 2 === 0)
    .join('\n');

/** Everything that the memory does for a request, except waiting for the disk. */
function rememberRequest(
  request: ProxyRequest,
  conversations: Conversations,
): Promise<void> | undefined {
  conversations.memoryOf(request);
  conversations.standing(request);
  conversations.turnOf(request);
  return conversations.noteSent(asSent(request, conversations).request);
}

async function withConversations<T>(
  use: (conversations: Conversations, file: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-limits-'));
  const file = join(folder, 'decisions.jsonl');
  try {
    const onError = (error: Error): void => {
      throw error;
    };
    const store = await openStore({ file, clock: systemClock, onProblem: onError });
    const conversations = createConversations({ store, clock: systemClock, version: 1 });
    return await use(conversations, file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function timeAndDisk(): Promise<readonly Measured[]> {
  return withConversations(async (conversations, file) => {
    const times: number[] = [];
    let bytes = 0;
    for (let session = 0; session < SESSIONS; session += 1) {
      const messages = longSession(session);
      for (let end = 1; end <= messages.length; end += 2) {
        const request = requestOf(session, messages.slice(0, end));
        const { length } = request.original.body.bytes;
        const startMs = performance.now();
        const written = rememberRequest(request, conversations);
        if (length >= FROM_BYTES) times.push(performance.now() - startMs);
        await written;
        if (end === messages.length) bytes += length;
      }
    }
    await conversations.flush();
    times.sort((a, b) => a - b);
    return [
      {
        what: 'the memory of a conversation on the way of a request of 400 KB, median',
        unit: 'ms',
        max: P50_MS,
        value: times[times.length >> 1]!,
      },
      {
        what: 'its file, of the bytes of the conversations',
        unit: '%',
        max: DISK_PERCENT,
        value: (statSync(file).size / bytes) * 100,
      },
    ];
  });
}

/** Returns the heap bytes in use by this process. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Fills a store with copies of one session's data until it is full. */
async function heldMemory(): Promise<readonly Measured[]> {
  const before = usedBytes();
  return withConversations(async (conversations) => {
    let figures = conversations.figures;
    let sessions = 0;
    for (let isFull = false; !isFull; sessions += 1) {
      const memory = conversations.memoryOf(requestOf(sessions, [{ role: 'user', content: 'x' }]));
      const results = Array.from({ length: 60 }, (_, at) => textOf(sessions * 100 + at, 30));
      const sent = results.map((text) => [textHash(text), textOf(sessions, SENT_CHARS)] as const);
      memory.set({ sent, keys: [['anthropic', 'key']] });
      isFull = conversations.figures.conversations <= figures.conversations;
      figures = conversations.figures;
    }
    for (let session = 0; session < HELD_REQUESTS; session += 1)
      await rememberRequest(requestOf(session, longSession(session)), conversations);
    await conversations.flush();
    const what = `the memory of ${figures.conversations} conversations, ${(figures.chars / 1e6).toFixed(0)} MB in the file, and what ${HELD_REQUESTS} requests left`;
    return [{ what, unit: 'MB', max: RAM_MB, value: (usedBytes() - before) / 2 ** 20 }];
  });
}

/** Cost of remembering conversations. */
export const CONVERSATION_LIMITS: readonly LimitGroup[] = [
  { name: 'time and disk of the memory of conversations', measure: timeAndDisk },
  { name: 'memory of conversations', measure: heldMemory },
];
