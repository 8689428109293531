/**
 * Parses bodies that repeat the beginning of an earlier one, as every turn of a conversation does:
 * only what follows the repeated messages is read. The result is that of parsing the whole body;
 * both results share the repeated messages, which nothing ever changes, and their texts.
 */
import { isObject, listOf, parseBody } from '../dialect/json-kind.ts';
import type { BlockHistory } from '../model/block-history.ts';
import type { DialectName } from '../model/dialect.ts';
import { createPathScanner, findItems } from '../wire/json-path.ts';
import type { ByteSpan } from '../wire/json-path.ts';
import { COMMA, skipSpace } from '../wire/json-skip.ts';
import { measureJson } from '../wire/json-size.ts';
import type { JsonMeasure } from '../wire/json-size.ts';
import { sharedBytes } from './shared-bytes.ts';

/** Shorter bodies are parsed just as fast as compared. */
const MIN_BYTES = 64 * 1024;
/** Longer bodies would leave no room for others. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** Bytes of the bodies that are kept, and their number. */
const MAX_BYTES = 12 * 1024 * 1024;
const MAX_BODIES = 16;
/** The members that hold a conversation, in all dialects. */
const LISTS = ['messages', 'input', 'contents'] as const;

type ListName = (typeof LISTS)[number];

interface KeptBody {
  readonly bytes: Buffer;
  readonly dialect: DialectName;
  readonly name: ListName;
  readonly list: readonly unknown[];
  readonly values: number;
  readonly history: BlockHistory;
}

/** A body parsed with what an earlier one has read from their common messages. */
export interface ParsedBody {
  readonly json: unknown;
  readonly history: BlockHistory;
}

/** The beginning of a body that an earlier one has, too. */
interface Repeated {
  readonly body: KeptBody;
  readonly items: number;
  /** Where the rest of the body's items begins. */
  readonly rest: number;
}

const scanners = {
  messages: createPathScanner([['messages']]),
  input: createPathScanner([['input']]),
  contents: createPathScanner([['contents']]),
};

export type RepeatedBodies = ReturnType<typeof createRepeatedBodies>;

/** Remembers the newest long bodies. */
export function createRepeatedBodies() {
  /** Oldest first. */
  let kept: readonly KeptBody[] = [];
  const keep = (body: KeptBody, before?: KeptBody): void => {
    const all = [...kept.filter((one) => one !== before), body];
    let bytes = 0;
    const from = all.findLastIndex((one, at) => {
      bytes += one.bytes.length;
      return bytes > MAX_BYTES || all.length - at > MAX_BODIES;
    });
    kept = all.slice(from + 1);
  };
  return {
    /**
     * Returns the parsed body; undefined if it repeats no earlier one, or has to be measured and
     * parsed whole for another reason. Throws as `parseBody` does.
     */
    parse(bytes: Buffer, dialect: DialectName): ParsedBody | undefined {
      if (bytes.length < MIN_BYTES || bytes.length > MAX_BODY_BYTES) return undefined;
      const repeated = longest(
        bytes,
        kept.filter((one) => one.dialect === dialect),
      );
      if (repeated === undefined) return undefined;
      const { body, items, rest } = repeated;
      const { name, history } = body;
      const { start, ends } = history.places;
      const others = Buffer.concat([bytes.subarray(0, start + 1), bytes.subarray(rest)]);
      const { size, values } = measureJson(others, body.values);
      if (size !== 'fine') return undefined;
      const span = scanners[name](others)[0];
      // A second member of that name would replace the first one.
      if (span?.start !== start) return undefined;
      const json = parseBody(others.toString('utf8'));
      if (!isObject(json) || !Array.isArray(json[name])) return undefined;
      const list = [...body.list.slice(0, items), ...listOf(json[name])];
      const moved = rest - start - 1;
      const next: BlockHistory = {
        before: history.now,
        now: undefined,
        places: { name, start, ends: [...ends.slice(0, items), ...endsOf(others, span, moved)] },
        shared: history.shared,
      };
      keep({ bytes, dialect, name, list, values, history: next }, body);
      return { json: { ...json, [name]: list }, history: next };
    },
    /** Keeps a body that was parsed whole, if it is long enough, and returns its history. */
    add(
      bytes: Buffer,
      dialect: DialectName,
      json: unknown,
      { values }: JsonMeasure,
    ): BlockHistory | undefined {
      if (bytes.length < MIN_BYTES || bytes.length > MAX_BODY_BYTES || !isObject(json))
        return undefined;
      const name = LISTS.find((each) => Array.isArray(json[each]));
      const span = name && scanners[name](bytes)[0];
      if (name === undefined || span === undefined) return undefined;
      const history: BlockHistory = {
        before: undefined,
        now: undefined,
        places: { name, start: span.start, ends: endsOf(bytes, span, 0) },
        shared: new Map(),
      };
      keep({ bytes, dialect, name, list: listOf(json[name]), values, history });
      return history;
    },
  };
}

/** Returns where the items of the list at `span` end, moved by `by` bytes. */
function endsOf(bytes: Buffer, { start, end }: ByteSpan, by: number): readonly number[] {
  return findItems(bytes, start, end).map((item) => item.end + by);
}

function longest(bytes: Buffer, kept: readonly KeptBody[]): Repeated | undefined {
  let found: Repeated | undefined;
  for (const body of kept) {
    const repeated = repeatedItems(bytes, body);
    if (repeated !== undefined && repeated.rest > (found?.rest ?? 0)) found = repeated;
  }
  return found;
}

/** At least one item has to follow the repeated ones. */
function repeatedItems(bytes: Buffer, body: KeptBody): Repeated | undefined {
  const shared = sharedBytes(bytes, body.bytes);
  const { ends } = body.history.places;
  for (let at = ends.findLastIndex((end) => end <= shared); at >= 0; at -= 1) {
    const end = ends[at]!;
    const comma = skipSpace(bytes, end, bytes.length);
    // A number may go on here, and the last item has none after it.
    if (bytes[comma] === COMMA) return { body, items: at + 1, rest: comma + 1 };
  }
  return undefined;
}
