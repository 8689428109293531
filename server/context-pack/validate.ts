/** Checks a JSON or YAML file as a context pack, with line and column of every fault. */
import { SvcError } from '../../engine/index.ts';
import { isObject } from '../../stages/dialect/json-kind.ts';
import { faultsOf } from './check.ts';
import type { PackFault, PackPath } from './check.ts';
import { pathText, type PlacedFault, type PlacedValue } from './positions.ts';
import { contextPack } from './schema.ts';
import { parsePack } from './yaml.ts';

/** A fault with its position. */
export interface LocatedFault {
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1, in characters. */
  readonly column: number;
  /** Such as `blocks[2].quality`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

/** Facts about a valid pack. */
export interface PackFacts {
  readonly version: string;
  readonly id: string;
  readonly blocks: number;
}

export type Validation =
  | { readonly valid: true; readonly pack: PackFacts }
  | { readonly valid: false; readonly faults: readonly LocatedFault[] };

/** Larger files are refused. */
const MAX_BYTES: Readonly<Record<PackFormat, number>> = {
  json: 64 * 1024 * 1024,
  yaml: 4 * 1024 * 1024,
};
const MAX_DEPTH = 64;
/** The first faults of a completely wrong file are enough. */
const MAX_FAULTS = 200;

/** File format of a pack. */
export type PackFormat = 'json' | 'yaml';

/**
 * Checks `bytes`. Faults are in file order.
 *
 * @throws SvcError `payload_too_large` above 64 MiB, for YAML above 4 MiB.
 */
export async function validatePack(
  bytes: Buffer,
  format: PackFormat = 'json',
): Promise<Validation> {
  if (bytes.length > MAX_BYTES[format])
    throw new SvcError(
      'payload_too_large',
      `The file is larger than ${MAX_BYTES[format] / 1024 / 1024} MiB`,
      format === 'yaml' ? { cure: 'Write it as JSON.' } : {},
    );
  const notText = notUtf8(bytes);
  if (notText !== undefined) return { valid: false, faults: [notText] };
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  const lines = createLineMap(text);
  const parsed = format === 'json' ? parseJson(text) : await parsePack(text, MAX_DEPTH);
  if ('at' in parsed) {
    const fault = {
      ...lines.at(parsed.at),
      path: '',
      message: `is no ${format.toUpperCase()}: ${parsed.reason}`,
    };
    return { valid: false, faults: [fault] };
  }
  const faults = [...faultsOf(parsed.value, contextPack), ...repeatedIds(parsed.value)];
  if (faults.length > 0 || parsed.repeated.length > 0) {
    const located = faults.slice(0, MAX_FAULTS).map((fault) => locate(fault, parsed, lines));
    const duplicates = parsed.repeated.slice(0, MAX_FAULTS).map(({ path, at }) => ({
      ...lines.at(at),
      path: pathText(path),
      message: 'is here a second time',
    }));
    const all = [...located, ...duplicates];
    return { valid: false, faults: all.toSorted((a, b) => a.line - b.line || a.column - b.column) };
  }
  const { header, blocks } = parsed.value as {
    readonly header: { readonly version: string; readonly id: string };
    readonly blocks: readonly unknown[];
  };
  const { version, id } = header;
  return { valid: true, pack: { version, id, blocks: blocks.length } };
}

/** A block's id must be unique within the pack. */
function repeatedIds(value: unknown): PackFault[] {
  const blocks = isObject(value) && Array.isArray(value['blocks']) ? value['blocks'] : [];
  const seen = new Map<string, number>();
  const faults: PackFault[] = [];
  for (const [index, block] of (blocks as unknown[]).entries()) {
    const id = isObject(block) ? block['id'] : undefined;
    if (typeof id !== 'string') continue;
    const first = seen.get(id);
    if (first === undefined) seen.set(id, index);
    else
      faults.push({ path: ['blocks', index, 'id'], message: `is the id of blocks[${first}] too` });
  }
  return faults;
}

function notUtf8(bytes: Buffer): LocatedFault | undefined {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return undefined;
  } catch {
    return { line: 1, column: 1, path: '', message: 'is not UTF-8' };
  }
}

interface LineMap {
  at(offset: number): { readonly line: number; readonly column: number };
}

function createLineMap(text: string): LineMap {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return {
    at(offset) {
      let low = 0;
      let high = starts.length - 1;
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if (starts[middle]! <= offset) low = middle;
        else high = middle - 1;
      }
      return { line: low + 1, column: Array.from(text.slice(starts[low], offset)).length + 1 };
    },
  };
}

function locate(
  { path, message, isName }: PackFault,
  { values, names }: PlacedValue,
  lines: LineMap,
): LocatedFault {
  const key = pathText(path);
  const offset = (isName === true ? names.get(key) : undefined) ?? values.get(key) ?? 0;
  return { ...lines.at(offset), path: key, message };
}

/** `JSON.parse` with the position of every value, and of the fault if there is one. */
function parseJson(text: string): PlacedValue | PlacedFault {
  const reader = new PlacedJson(text);
  try {
    const value = reader.read();
    const { values, names, repeated } = reader;
    return { value, values, names, repeated };
  } catch (thrown) {
    if (thrown instanceof JsonFault) return { at: thrown.at, reason: thrown.message };
    throw thrown;
  }
}

class JsonFault extends Error {
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\r\n]*/y;
const WORDS: readonly (readonly [string, unknown])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];

/** Parses JSON (RFC 8259) and records the position of everything. */
class PlacedJson {
  readonly values = new Map<string, number>();
  readonly names = new Map<string, number>();
  readonly repeated: { path: PackPath; at: number }[] = [];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): unknown {
    const value = this.#value([]);
    this.#space();
    if (this.#at < this.#text.length) this.#fail('nothing may follow the value');
    return value;
  }

  #fail(message: string): never {
    const end = this.#at >= this.#text.length ? 'the file ends too early' : message;
    throw new JsonFault(this.#at, end);
  }

  #space(): void {
    SPACE.lastIndex = this.#at;
    SPACE.test(this.#text);
    this.#at = SPACE.lastIndex;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #next(char: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  #value(path: PackPath): unknown {
    this.#space();
    if (path.length > MAX_DEPTH) this.#fail(`it nests deeper than ${MAX_DEPTH}`);
    this.values.set(pathText(path), this.#at);
    const char = this.#text[this.#at];
    if (char === '{') return this.#object(path);
    if (char === '[') return this.#list(path);
    if (char === '"') return this.#string();
    for (const [word, value] of WORDS) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    return Number(this.#take(NUMBER) ?? this.#fail('a value is expected here'));
  }

  #string(): string {
    const text = this.#text;
    let end = this.#at + 1;
    while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
    if (end >= text.length) this.#fail('this string has no end');
    try {
      const value = JSON.parse(text.slice(this.#at, end + 1)) as string;
      this.#at = end + 1;
      return value;
    } catch {
      return this.#fail('this string contains an unescaped character or an invalid escape');
    }
  }

  #object(path: PackPath): object {
    this.#at += 1;
    const members = new Map<string, unknown>();
    if (this.#next('}')) return {};
    do {
      this.#space();
      const at = this.#at;
      if (this.#text[at] !== '"') this.#fail('a name in quotes is expected here');
      const name = this.#string();
      const inner = [...path, name];
      if (members.has(name)) this.repeated.push({ path: inner, at });
      this.names.set(pathText(inner), at);
      if (!this.#next(':')) this.#fail('a colon is expected here');
      members.set(name, this.#value(inner));
    } while (this.#next(','));
    if (!this.#next('}')) this.#fail('a comma or } is expected here');
    return Object.fromEntries(members);
  }

  #list(path: PackPath): unknown[] {
    this.#at += 1;
    const items: unknown[] = [];
    if (this.#next(']')) return items;
    do items.push(this.#value([...path, items.length]));
    while (this.#next(','));
    if (!this.#next(']')) this.#fail('a comma or ] is expected here');
    return items;
  }
}
