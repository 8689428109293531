/**
 * Batch results as providers return them: one JSON object per line, each with the answer to one
 * request, of any dialect. Lines are read as they pass, so that a file of gigabytes takes the
 * memory of one line.
 */
import type { UsageObserver } from '../../model/dialect.ts';
import { pathOf } from '../../model/target.ts';
import { emptyUsage } from '../../model/usage.ts';
import type { OwnWork, Usage } from '../../model/usage.ts';
import { createPathScanner } from '../../wire/json-path.ts';
import {
  MAX_READ_BYTES,
  compileReader,
  createAnswer,
  readPayload,
  tryOr,
} from '../answer-reader.ts';
import type { CompiledReader } from '../answer-reader.ts';
import { chatReader } from '../chat/usage.ts';
import { generativeReader } from '../generative/usage.ts';
import { messagesReader } from '../messages/usage.ts';
import { responsesReader } from '../responses/usage.ts';
import { createUsageSum } from '../usage-sum.ts';
import type { UsageSum } from '../usage-sum.ts';
import { opaqueReader } from './usage.ts';

/** Where results are fetched, with their name: a batch, or a file that may be anything else. */
const RESULTS = [
  /^\/v1\/messages\/batches\/([^/]+)\/results$/,
  /^\/v1\/files\/([^/]+)\/content$/,
  /^\/(?:download\/)?v1(?:alpha|beta1?)?\/(files\/[^/]+):download$/,
];

/** Returns the name of what is fetched at `target`, if that may be batch results. */
export function resultsAt(target: string): string | undefined {
  const path = pathOf(target);
  for (const pattern of RESULTS) {
    const name = pattern.exec(path)?.[1];
    if (name !== undefined) return name;
  }
  return undefined;
}

/** Where a line has its answer: Anthropic, OpenAI, Google. */
const scan = createPathScanner([
  ['result', 'message'],
  ['response', 'body'],
  ['response', 'usageMetadata'],
  ['response'],
  ['custom_id'],
  ['key'],
]);

const READERS = {
  messages: compileReader(messagesReader),
  chat: compileReader(chatReader),
  responses: compileReader(responsesReader),
  generative: compileReader(generativeReader),
  opaque: compileReader(opaqueReader),
};

const NEWLINE = 0x0a;
const BRACE = 0x7b;
/** Patterns that select the reader of an answer. */
const [IS_RESPONSE, IS_CHAT] = [/"object"\s*:\s*"response"/, /"object"\s*:\s*"chat\.completion"/];
/** Length of an answer's beginning that names its kind. */
const BEGINNING_BYTES = 4096;
const BATCH = 'batch';

/** Creates an observer of the results called `name`. Any other file has no usage. */
export function observeResults(name: string): UsageObserver {
  const sum = createUsageSum(BATCH);
  let held: Buffer[] = [];
  let heldBytes = 0;
  /** True while the rest of a line that is too long to be read passes. */
  let isSkipping = false;
  /** True if it does not begin like JSON, as most files. */
  let isOther: boolean | undefined;
  const work: OwnWork = { ids: [name], isFinal: true, isDeferred: true };

  function readPiece(piece: Buffer, isWhole: boolean): void {
    heldBytes += piece.length;
    if (heldBytes > MAX_READ_BYTES) {
      // A single value of that length is a user's file.
      if (!isSkipping && sum.usage() !== emptyUsage) sum.addUnread('a result that is too long');
      isSkipping = true;
      held = [];
    } else held.push(piece);
    if (!isWhole) return;
    if (!isSkipping) readLine(sum, held.length === 1 ? held[0]! : Buffer.concat(held));
    [held, heldBytes, isSkipping] = [[], 0, false];
  }

  function usage(): Usage {
    // The last line may lack its line feed.
    if (heldBytes > 0) readPiece(Buffer.alloc(0), true);
    const all = sum.usage();
    return all === emptyUsage ? all : { ...all, work };
  }

  return {
    push(bytes) {
      if (isOther === undefined && bytes.length > 0) isOther = bytes[0] !== BRACE;
      if (isOther === true) return;
      let start = 0;
      for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
        readPiece(bytes.subarray(start, end), true);
        start = end + 1;
      }
      if (start < bytes.length) readPiece(bytes.subarray(start), false);
    },
    usage,
    streamedTokens: () => 0,
    model: () => sum.model(),
    terminated: () => true,
    failed: () => false,
    isCutShort: () => false,
  };
}

function readLine(sum: UsageSum, line: Buffer): void {
  if (line.length === 0) return;
  const spans = tryOr(() => scan(line), []);
  const [message, body, figures, response, customId, key] = spans;
  const isOpenAi = body !== undefined && customId !== undefined;
  const isGoogle = figures !== undefined && (key !== undefined || customId === undefined);
  const span = message ?? (isOpenAi ? body : isGoogle ? response : undefined);
  if (span === undefined) return;
  const bytes = line.subarray(span.start, span.end);
  // An empty answer, as for a failed request.
  if (bytes.length < 3 || bytes[0] !== BRACE) return;
  const answer = createAnswer();
  readPayload(answer, readerOf(message !== undefined, isOpenAi, bytes), bytes);
  const { usage, model } = answer;
  if (usage.inputTokens !== null || usage.outputTokens !== null) sum.add(model, usage);
  else if (!/^\{\s*"error"/.test(bytes.toString('latin1', 0, BEGINNING_BYTES)))
    sum.addUnread('a result without usage');
}

function readerOf(isMessage: boolean, isOpenAi: boolean, bytes: Buffer): CompiledReader {
  if (isMessage) return READERS.messages;
  if (!isOpenAi) return READERS.generative;
  const beginning = bytes.toString('latin1', 0, BEGINNING_BYTES);
  if (IS_RESPONSE.test(beginning)) return READERS.responses;
  return IS_CHAT.test(beginning) ? READERS.chat : READERS.opaque;
}
