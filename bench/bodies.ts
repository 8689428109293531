/** Loads request bodies to measure: a folder of JSON files, one file, or the built-in set. */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { SvcError } from '../engine/error.ts';
import { loadDemo } from '../fixtures/demo.ts';
import { reasonOf } from '../stages/disk-reason.ts';
import { workloads } from './workloads.ts';

/** A request to measure. */
export interface BenchBody {
  readonly name: string;
  /** Path and query to which it is posted. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type JsonObject = Readonly<Record<string, unknown>>;

const MESSAGES_HEADERS = { 'x-api-key': 'bench-key', 'anthropic-version': '2023-06-01' };
const BEARER_HEADERS = { Authorization: 'Bearer bench-key' };
const GENERATIVE_HEADERS = { 'x-goog-api-key': 'bench-key' };

/** Returns a small call, a large one, a stream, and three turns of the demo's coding session. */
export function builtInBodies(): readonly BenchBody[] {
  const small = ['json', 'sse-burst', 'large-body'].map((wanted): BenchBody => {
    const { name, path, headers, body } = workloads.find((one) => one.name === wanted)!;
    return { name, path, headers, body };
  });
  const { path, headers, turns } = loadDemo();
  const chosen = [0, turns.length >> 1, turns.length - 1];
  const session = [...new Set(chosen)].map((turn) => ({
    name: `session-turn-${turn + 1}`,
    path,
    headers: { ...MESSAGES_HEADERS, ...headers },
    body: turns[turn]!.body.toString(),
  }));
  return [...small, ...session];
}

/**
 * Reads every `.json` file of `folder`, sorted by name. Throws `not_found` if there is none,
 * `unprocessable` for an invalid one.
 */
export function readBodies(folder: string): readonly BenchBody[] {
  let names: string[];
  try {
    names = statSync(folder).isDirectory() ? readdirSync(folder) : [];
  } catch (cause) {
    throw new SvcError('not_found', `There is no folder ${folder}`, { cause });
  }
  const files = names.filter((name) => name.endsWith('.json')).toSorted();
  if (files.length === 0) {
    throw new SvcError('not_found', `${folder} holds no request body`, {
      cure: 'Put one JSON file a request there, or leave the folder out for the built-in set.',
    });
  }
  return files.map((name) => readBody(join(folder, name)));
}

/**
 * Reads the request body in `file`. Throws `not_found` without the file, `unprocessable` if it is
 * not a request.
 */
export function readBody(file: string): BenchBody {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new SvcError('not_found', `${file} cannot be read: ${reasonOf(cause)}`, { cause });
  }
  return toBenchBody(basename(file, '.json'), text, file);
}

/** Recognizes the endpoint of a body by its shape. `source` names it in errors. */
export function toBenchBody(name: string, body: string, source = name): BenchBody {
  const value = parse(body);
  if (value === undefined) {
    throw new SvcError('unprocessable', `${source} is not a JSON object`);
  }
  const target = targetOf(value);
  if (target === undefined) {
    throw new SvcError('unprocessable', `${source} is not a request that svc knows`, {
      cure: 'A request body has messages, input or contents.',
    });
  }
  return { name, body, ...target };
}

function targetOf(value: JsonObject): Pick<BenchBody, 'path' | 'headers'> | undefined {
  if (Array.isArray(value['messages'])) {
    return isMessagesBody(value)
      ? { path: '/v1/messages', headers: MESSAGES_HEADERS }
      : { path: '/v1/chat/completions', headers: BEARER_HEADERS };
  }
  if (value['input'] !== undefined) return { path: '/v1/responses', headers: BEARER_HEADERS };
  if (!Array.isArray(value['contents'])) return undefined;
  const { model } = value;
  const named = typeof model === 'string' ? model : 'gemini-2.5-flash';
  return { path: `/v1beta/models/${named}:generateContent`, headers: GENERATIVE_HEADERS };
}

/** Both kinds have `messages`; these fields occur in one of them only. */
function isMessagesBody(value: JsonObject): boolean {
  const { model, tools } = value;
  if (value['system'] !== undefined || value['thinking'] !== undefined) return true;
  if (Array.isArray(tools) && tools.some((tool) => asObject(tool)?.['input_schema'] !== undefined))
    return true;
  return typeof model === 'string' && model.startsWith('claude');
}

function parse(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}
