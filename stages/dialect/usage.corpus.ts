/**
 * Checks the dialects against recordings of real answers and requests, which are not part
 * of this repository: `SVC_CORPUS`, or `../shared/corpus` beside the project, names their
 * folder. Each recording's own numbers are read a second time here, in the plainest way,
 * and must be what the observers find in the bytes, whole, byte by byte and in random
 * splits. Run as `node dist/stages/dialect/usage.corpus.js`; exits 1 on a difference.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NO_CORPUS, openCorpus } from '../../fixtures/corpus.ts';
import { recordedUsage } from '../../fixtures/recorded-usage.ts';
import type { Counts } from '../../fixtures/recorded-usage.ts';
import type { Usage } from '../model/usage.ts';
import { findSpans } from '../wire/json-path.ts';
import { createSplitter } from '../wire/events.ts';
import type { Dialect, DialectName } from '../model/dialect.ts';
import { parseJson } from './json-kind.ts';
import { dialects } from './registry.ts';

interface Recording {
  readonly id: string;
  readonly kind: string;
  readonly uri: string;
  readonly body: string;
}

/** Which of the corpus's kinds is which dialect; the others count tokens or are legacy. */
const DIALECTS: Readonly<Record<string, DialectName>> = {
  'anthropic-json': 'messages',
  'anthropic-sse': 'messages',
  'anthropic-count-json': 'opaque',
  'gemini-json': 'generative',
  'gemini-sse': 'generative',
  'openai-json': 'chat',
  'openai-sse': 'chat',
  'openai-legacy-json': 'opaque',
  'openai-legacy-sse': 'opaque',
  'openai-responses-json': 'responses',
  'openai-responses-sse': 'responses',
  'anthropic-request': 'messages',
  'gemini-request': 'generative',
  'openai-request': 'chat',
  'openai-responses-request': 'responses',
};

function toCounts(usage: Usage): Counts {
  return [usage.inputTokens, usage.outputTokens, usage.cacheReadTokens, usage.cacheWriteTokens];
}

/** The ways in which one body arrives: whole, byte by byte, and cut at places that the seed decides. */
function arrivals(bytes: Buffer, seed: number): Buffer[][] {
  const random: Buffer[] = [];
  let state = seed;
  for (let start = 0; start < bytes.length;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const end = start + 1 + ((state >>> 8) % 900);
    random.push(bytes.subarray(start, end));
    start = end;
  }
  return [[bytes], Array.from(bytes, (_, i) => bytes.subarray(i, i + 1)), random];
}

/** Parts of an answer up to which each is looked at when it comes. */
const MOST_ASKED = 1000;

/** What is wrong with how an answer is read; empty if nothing is. */
function checkAnswer(one: Recording, seed: number): string[] {
  const dialect = dialects[DIALECTS[one.kind] ?? 'opaque'];
  const streaming = one.kind.endsWith('-sse');
  const expected = JSON.stringify(
    recordedUsage({
      streaming: one.kind.endsWith('-sse'),
      isMessages: one.kind.startsWith('anthropic'),
      body: one.body,
    }),
  );
  const bytes = Buffer.from(one.body);
  const faults: string[] = [];
  for (const parts of arrivals(bytes, seed)) {
    for (const reader of [dialect, dialects.opaque]) {
      const observer = reader.observeUsage(streaming);
      for (const part of parts) {
        observer.push(part);
        // Asked, it looks at each part by itself, and once more at what it is in the middle of.
        if (streaming && parts.length <= MOST_ASKED) observer.terminated();
      }
      const found = JSON.stringify(toCounts(observer.usage()));
      if (found !== expected) faults.push(`${reader.name}: ${found}, recorded ${expected}`);
    }
    if (streaming && !isLossless(bytes, parts)) faults.push('the splitter changed bytes');
  }
  return faults;
}

function isLossless(bytes: Buffer, parts: readonly Buffer[]): boolean {
  const splitter = createSplitter();
  const pieces = parts.flatMap((part) => splitter.push(part));
  const rest = splitter.rest();
  if (rest !== undefined) pieces.push(rest);
  return Buffer.concat(pieces.map((piece) => piece.bytes)).equals(bytes);
}

/** What is wrong with how a request is read. */
function checkRequest(one: Recording): string[] {
  const name = DIALECTS[one.kind];
  if (name === undefined) return [];
  const dialect: Dialect = dialects[name];
  const bytes = Buffer.from(one.body);
  const body: unknown = JSON.parse(one.body);
  const target = new URL(one.uri).pathname;
  const fault = dialect.validate(body, target);
  if (fault !== undefined) return [fault.message];
  const placed = dialect.blocks(body).filter((block) => block.path !== undefined);
  const spans = findSpans(
    bytes,
    placed.map((block) => block.path ?? []),
  );
  return placed.flatMap(({ path, text }, i) => {
    const span = spans[i];
    const literal = span && bytes.toString('utf8', span.start, span.end);
    return literal !== undefined && parseJson(literal) === text ? [] : [JSON.stringify(path)];
  });
}

function readLines(file: string): Recording[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Recording);
}

function main(): void {
  const corpus = openCorpus();
  if (corpus === undefined) {
    process.stdout.write(NO_CORPUS);
    return;
  }
  const folder = join(corpus.root, 'recorded');
  const answers = readLines(join(folder, 'responses.jsonl'));
  const requests = readLines(join(folder, 'requests.jsonl'));
  const measured = answers.filter(
    (one) =>
      recordedUsage({
        streaming: one.kind.endsWith('-sse'),
        isMessages: one.kind.startsWith('anthropic'),
        body: one.body,
      })[0] !== null,
  ).length;
  const faults = [
    ...answers.flatMap((one, i) => checkAnswer(one, i + 1).map((fault) => `${one.id} ${fault}`)),
    ...requests.flatMap((one) => checkRequest(one).map((fault) => `${one.id} ${fault}`)),
  ];
  for (const fault of faults.slice(0, 50)) process.stdout.write(`${fault}\n`);
  process.stdout.write(
    `${answers.length} answers (${measured} with usage), ${requests.length} requests, ${faults.length} differences\n`,
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
}

main();
