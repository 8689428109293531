/**
 * A JSON reader that keeps every scalar as written. Numbers are never converted: `1.0`, `1e400` and
 * integers past 2^53 must survive unchanged.
 */

/** A value: scalars keep their source text, objects keep key order and duplicate keys. */
export type JsonNode =
  | { readonly kind: 'scalar'; readonly raw: string }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  | {
      readonly kind: 'object';
      readonly keys: readonly string[];
      readonly values: readonly JsonNode[];
    };

export type ObjectNode = Extract<JsonNode, { readonly kind: 'object' }>;

/** Returns the elements of an array or the member values of an object. */
export function partsOf(node: JsonNode): readonly JsonNode[] {
  if (node.kind === 'scalar') return [];
  return node.kind === 'array' ? node.items : node.values;
}

const MAX_DEPTH = 200;
/**
 * Limits the work to about 20 ms. A megabyte of records has about 50,000 values, and one of plain
 * numbers more.
 */
const MAX_VALUES = 80_000;
const BARE_SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/**
 * Reads `text` as one JSON value; undefined if it is not JSON, nests deeper than 200 or has over
 * 80,000 values.
 */
export function readJson(text: string): JsonNode | undefined {
  const reader = new Reader(text);
  return ifWellFormed(() => reader.whole());
}

/** Returns the result of `read`; undefined if it throws a SyntaxError. */
export function ifWellFormed<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
}

/** Scans a text in JSON or a similar notation. Throws a SyntaxError for anything else. */
export class Scanner {
  protected at = 0;
  protected readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  protected get isDone(): boolean {
    return this.at >= this.text.length;
  }

  /** Reads comma-separated items up to `close`; skips the opening character. */
  protected list<T>(close: string, item: () => T): T[] {
    const items: T[] = [];
    this.at++;
    while (!this.skip(close)) {
      if (items.length > 0) this.expect(',');
      items.push(item());
    }
    return items;
  }

  /** Reads a string with its quotes. */
  protected string(): string {
    const start = this.at;
    for (let at = start + 1; at < this.text.length; at++) {
      const code = this.text.charCodeAt(at);
      if (code === 92) at++;
      else if (code < 32) break;
      else if (code === 34) {
        this.at = at + 1;
        return this.text.slice(start, at + 1);
      }
    }
    throw new SyntaxError('unfinished string');
  }

  protected take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match === null) throw new SyntaxError(`unexpected text at ${this.at}`);
    this.at += match[0].length;
    return match[0];
  }

  protected skip(char: string): boolean {
    if (this.text[this.at] !== char) return false;
    this.at++;
    return true;
  }

  protected expect(char: string): void {
    if (!this.skip(char)) throw new SyntaxError(`expected ${char} at ${this.at}`);
  }
}

class Reader extends Scanner {
  private values = 0;

  whole(): JsonNode {
    const node = this.value(0);
    this.skipSpace();
    if (!this.isDone) throw new SyntaxError(`unexpected text at ${this.at}`);
    return node;
  }

  private value(depth: number): JsonNode {
    this.skipSpace();
    const char = this.text[this.at];
    if (depth > MAX_DEPTH || ++this.values > MAX_VALUES) throw new SyntaxError('too much of it');
    if (char === '[') return { kind: 'array', items: this.list(']', () => this.value(depth + 1)) };
    if (char !== '{')
      return { kind: 'scalar', raw: char === '"' ? this.string() : this.take(BARE_SCALAR) };
    const keys: string[] = [];
    const values = this.list('}', () => {
      this.skipSpace();
      if (this.text[this.at] !== '"') throw new SyntaxError(`expected a key at ${this.at}`);
      keys.push(this.string());
      this.expect(':');
      return this.value(depth + 1);
    });
    return { kind: 'object', keys, values };
  }

  /** Skips insignificant white space before a character. */
  protected override skip(char: string): boolean {
    if (super.skip(char)) return true;
    this.skipSpace();
    return super.skip(char);
  }

  private skipSpace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.at++;
    }
  }
}

/** Prints the value as JSON without insignificant white space; scalars keep their source text. */
export function printCompact(node: JsonNode): string {
  if (node.kind === 'scalar') return node.raw;
  if (node.kind === 'array') return `[${node.items.map(printCompact).join(',')}]`;
  const members = node.keys.map((key, index) => `${key}:${printCompact(node.values[index]!)}`);
  return `{${members.join(',')}}`;
}
