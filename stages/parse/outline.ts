/**
 * What can be read from a body that has too many values to be parsed without blocking others: the
 * members that a dialect validates and takes facts from. Long lists and objects are replaced by
 * placeholders of their type; only their nesting depth is checked.
 */
import { createPathScanner } from '../wire/json-path.ts';
import type { ByteSpan } from '../wire/json-path.ts';

/** Every member that some dialect validates or takes a fact from. */
const MEMBERS = [
  'model',
  'messages',
  'input',
  'contents',
  'prompt',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'stream',
  'stream_options',
  'tools',
  'functions',
  'thinking',
  'reasoning',
  'reasoning_effort',
  'generationConfig',
  'generation_config',
] as const;

/** Up to this size a member is read in full. */
const READ_BYTES = 10_000;

const scan = createPathScanner(MEMBERS.map((name) => [name]));

/**
 * Throws `bad_request` beyond 128 levels. Whether the body is valid JSON is for the provider to
 * judge.
 */
export function outlineOf(bytes: Buffer): Readonly<Record<string, unknown>> {
  const spans = scan(bytes);
  const outline: Record<string, unknown> = {};
  for (const [at, name] of MEMBERS.entries()) {
    const span = spans[at];
    if (span !== undefined) outline[name] = valueAt(bytes, span);
  }
  return outline;
}

function valueAt(bytes: Buffer, { start, end }: ByteSpan): unknown {
  if (end - start <= READ_BYTES) return JSON.parse(bytes.toString('utf8', start, end));
  switch (bytes[start]) {
    case 0x5b:
      return [null];
    case 0x7b:
      return {};
    default:
      return bytes.toString('utf8', start + 1, end - 1);
  }
}
