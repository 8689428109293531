/**
 * A JSON reader that keeps every scalar as it was written. Numbers are never turned into
 * values: `1.0`, `1e400` and integers past 2^53 must come out as they went in.
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

const MAX_DEPTH = 200;
/** A bound on work: about 20 ms. A megabyte of records has some 50,000 values, one of bare numbers more. */
const MAX_VALUES = 80_000;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Reads one JSON value that fills `text`; undefined where it is not JSON, nests deeper than 200 or holds more than 80,000 values. */
export function readJson(text: string): JsonNode | undefined {
  const reader = new Reader(text);
  const node = reader.value(0);
  reader.skipSpace();
  return node !== undefined && reader.at === text.length ? node : undefined;
}

class Reader {
  at = 0;
  private values = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  skipSpace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.at++;
    }
  }

  value(depth: number): JsonNode | undefined {
    this.skipSpace();
    const char = this.text[this.at];
    if (depth > MAX_DEPTH || ++this.values > MAX_VALUES) return undefined;
    if (char === '{') return this.object(depth);
    if (char === '[') return this.array(depth);
    const raw = char === '"' ? this.string() : this.bare();
    return raw === undefined ? undefined : { kind: 'scalar', raw };
  }

  private array(depth: number): JsonNode | undefined {
    const items: JsonNode[] = [];
    this.at++;
    if (this.closes(']')) return { kind: 'array', items };
    for (;;) {
      const item = this.value(depth + 1);
      if (item === undefined) return undefined;
      items.push(item);
      if (this.closes(']')) return { kind: 'array', items };
      if (this.text[this.at++] !== ',') return undefined;
    }
  }

  private object(depth: number): JsonNode | undefined {
    const keys: string[] = [];
    const values: JsonNode[] = [];
    this.at++;
    if (this.closes('}')) return { kind: 'object', keys, values };
    for (;;) {
      this.skipSpace();
      const key = this.text[this.at] === '"' ? this.string() : undefined;
      this.skipSpace();
      if (key === undefined || this.text[this.at++] !== ':') return undefined;
      const value = this.value(depth + 1);
      if (value === undefined) return undefined;
      keys.push(key);
      values.push(value);
      if (this.closes('}')) return { kind: 'object', keys, values };
      if (this.text[this.at++] !== ',') return undefined;
    }
  }

  private closes(char: string): boolean {
    this.skipSpace();
    if (this.text[this.at] !== char) return false;
    this.at++;
    return true;
  }

  private string(): string | undefined {
    const start = this.at;
    for (let at = start + 1; at < this.text.length; at++) {
      const code = this.text.charCodeAt(at);
      if (code === 92) at++;
      else if (code < 32) return undefined;
      else if (code === 34) {
        this.at = at + 1;
        return this.text.slice(start, at + 1);
      }
    }
    return undefined;
  }

  private bare(): string | undefined {
    for (const word of ['true', 'false', 'null']) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return word;
      }
    }
    NUMBER.lastIndex = this.at;
    const match = NUMBER.exec(this.text);
    if (match === null) return undefined;
    this.at += match[0].length;
    return match[0];
  }
}

/** The value as JSON without insignificant white space; every scalar as it was written. */
export function printCompact(node: JsonNode): string {
  if (node.kind === 'scalar') return node.raw;
  if (node.kind === 'array') return `[${node.items.map(printCompact).join(',')}]`;
  const members = node.keys.map((key, index) => `${key}:${printCompact(node.values[index]!)}`);
  return `{${members.join(',')}}`;
}
