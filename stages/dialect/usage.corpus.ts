/**
 * Checks the dialects against recordings of real answers and requests, which are not part
 * of this repository: `SVC_CORPUS`, or `../shared/corpus` beside the project, names their
 * folder. Each recording's own numbers are read a second time here, in the plainest way,
 * and must be what the observers find in the bytes, whole, byte by byte and in random
 * splits. Run as `node dist/stages/dialect/usage.corpus.js`; exits 1 on a difference.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../fixtures/paths.ts';
import type { Usage } from '../model/usage.ts';
import { findSpans } from '../wire/json-path.ts';
import { createSplitter } from '../wire/sse-split.ts';
import type { Dialect, DialectName } from './dialect.ts';
import { isObject, parseJson } from './json-kind.ts';
import type { JsonObject } from './json-kind.ts';
import { dialects } from './registry.ts';

interface Recording {
  readonly id: string;
  readonly kind: string;
  readonly uri: string;
  readonly body: string;
}

type Counts = readonly (number | null)[];

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

const NOTHING: Counts = [null, null, null, null];

/** Every JSON object that an answer consists of. */
function payloadsOf(one: Recording): JsonObject[] {
  if (!one.kind.endsWith('-sse')) {
    const document = parseJson(one.body);
    return (Array.isArray(document) ? document : [document]).filter(isObject);
  }
  return one.body
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => parseJson(line.slice(5)))
    .filter(isObject);
}

function numberAt(holder: unknown, ...path: readonly string[]): number | undefined {
  let value = holder;
  for (const step of path) value = isObject(value) ? value[step] : undefined;
  return typeof value === 'number' ? value : undefined;
}

/** Input without cached tokens, output, cache reads, cache writes, as the provider's documents define them. */
function countsOf(one: Recording): Counts {
  const payloads = payloadsOf(one);
  if (one.kind.startsWith('anthropic')) return messagesCounts(payloads);
  return payloads.reduce<Counts>((known, payload) => countsIn(payload) ?? known, NOTHING);
}

function messagesCounts(payloads: readonly JsonObject[]): Counts {
  const found: Record<string, number> = {};
  const names = [
    'input_tokens',
    'output_tokens',
    'cache_read_input_tokens',
    'cache_creation_input_tokens',
  ];
  for (const payload of payloads) {
    for (const usage of [
      isObject(payload['message']) ? payload['message']['usage'] : undefined,
      payload['usage'],
    ]) {
      for (const name of names) found[name] = numberAt(usage, name) ?? found[name] ?? Number.NaN;
    }
  }
  return names.map((name) => (Number.isNaN(found[name]) ? null : (found[name] ?? null)));
}

function countsIn(payload: JsonObject): Counts | undefined {
  const google = payload['usageMetadata'];
  if (isObject(google)) return generativeCounts(google);
  const response = payload['response'];
  const groq = payload['x_groq'];
  const usage = [
    payload['usage'],
    isObject(response) ? response['usage'] : undefined,
    isObject(groq) ? groq['usage'] : undefined,
  ].find(isObject);
  if (usage === undefined) return undefined;
  const input = numberAt(usage, 'prompt_tokens') ?? numberAt(usage, 'input_tokens');
  if (input === undefined) return undefined;
  const details = isObject(usage['prompt_tokens_details'])
    ? usage['prompt_tokens_details']
    : usage['input_tokens_details'];
  const read =
    numberAt(details, 'cached_tokens') ??
    numberAt(usage, 'prompt_cache_hit_tokens') ??
    numberAt(usage, 'cached_tokens') ??
    numberAt(usage, 'num_cached_tokens');
  const written = numberAt(details, 'cache_write_tokens');
  const writtenOnly = written === undefined ? null : Math.min(written, input - (read ?? 0));
  return [
    input - (read ?? 0) - (writtenOnly ?? 0),
    outputOf(usage, input),
    read ?? null,
    writtenOnly,
  ];
}

function outputOf(usage: JsonObject, input: number): number | null {
  const output = numberAt(usage, 'completion_tokens') ?? numberAt(usage, 'output_tokens');
  const total = numberAt(usage, 'total_tokens');
  const reasoning = numberAt(usage, 'completion_tokens_details', 'reasoning_tokens') ?? 0;
  if (output === undefined) return total === undefined ? null : total - input;
  return total === input + output + reasoning ? output + reasoning : output;
}

/** All figures of this provider add up to its total, so the output is what the input leaves of it. */
function generativeCounts(usage: JsonObject): Counts | undefined {
  const prompt = numberAt(usage, 'promptTokenCount');
  const total = numberAt(usage, 'totalTokenCount');
  if (prompt === undefined || total === undefined) return undefined;
  const input = prompt + (numberAt(usage, 'toolUsePromptTokenCount') ?? 0);
  const read = numberAt(usage, 'cachedContentTokenCount');
  return [input - (read ?? 0), total - input, read ?? null, null];
}

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

/** What is wrong with how an answer is read; empty if nothing is. */
function checkAnswer(one: Recording, seed: number): string[] {
  const dialect = dialects[DIALECTS[one.kind] ?? 'opaque'];
  const streaming = one.kind.endsWith('-sse');
  const expected = JSON.stringify(countsOf(one));
  const bytes = Buffer.from(one.body);
  const faults: string[] = [];
  for (const parts of arrivals(bytes, seed)) {
    for (const reader of [dialect, dialects.opaque]) {
      const observer = reader.observeUsage(streaming);
      for (const part of parts) observer.push(part);
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
  const corpus = process.env['SVC_CORPUS'] ?? join(projectRoot, '..', 'shared', 'corpus');
  const folder = join(corpus, 'recorded');
  if (!existsSync(folder)) {
    process.stdout.write(`no recordings at ${folder}: nothing to check\n`);
    return;
  }
  const answers = readLines(join(folder, 'responses.jsonl'));
  const requests = readLines(join(folder, 'requests.jsonl'));
  const measured = answers.filter((one) => countsOf(one)[0] !== null).length;
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
