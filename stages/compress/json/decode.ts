/** The way back from `json-encode.ts`: used on every encoding before it is sent, and by tests. */
import { printCompact, readJson, type JsonNode } from './lexer.ts';
import type { Column } from './table.ts';
import { MARK } from '../text/marker.ts';

/**
 * The compact JSON (or JSON Lines) that an encoding stands for, scalars as they were
 * written; undefined where the text is no encoding of ours.
 */
export function decodeJson(text: string): string | undefined {
  if (!text.startsWith(`${MARK}JSON`)) return undefined;
  const headerEnd = text.indexOf('\n');
  if (headerEnd < 0) return undefined;
  const lines = text.startsWith(`${MARK}JSON Lines`);
  try {
    const decoder = new Decoder(text.slice(headerEnd + 1));
    decoder.definitions();
    const node = decoder.value();
    if (!decoder.done) return undefined;
    if (!lines) return printCompact(node);
    return node.kind === 'array' ? node.items.map(printCompact).join('\n') : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Where a row's reader stands: before its first cell or not, and what ends the row. */
interface RowState {
  value: boolean;
  readonly end: string;
}

class Decoder {
  private at = 0;
  private readonly text: string;
  private readonly shapes = new Map<string, readonly Column[]>();

  constructor(text: string) {
    this.text = text;
  }

  get done(): boolean {
    return this.at >= this.text.length;
  }

  /** Reads the lines that define shapes. */
  definitions(): void {
    while (/^#\d{1,4}=\(/.test(this.text.slice(this.at, this.at + 8))) {
      this.at++;
      const id = this.take(/\d+/y);
      this.expect('=');
      this.shapes.set(id, this.columns());
      this.expect('\n');
    }
  }

  value(): JsonNode {
    const char = this.text[this.at];
    if (char === '#') return this.shaped();
    if (char === '@') return this.table();
    if (char === '[') return { kind: 'array', items: this.list(']', () => this.value()) };
    if (char !== '{') return { kind: 'scalar', raw: this.scalar() };
    const keys: string[] = [];
    const values = this.list('}', () => {
      keys.push(this.scalar());
      this.expect(':');
      return this.value();
    });
    return { kind: 'object', keys, values };
  }

  private shaped(): JsonNode {
    this.at++;
    const columns = this.shapes.get(this.take(/\d+/y));
    if (columns === undefined) throw new SyntaxError('unknown shape');
    this.expect('(');
    const node = this.row(columns, { value: true, end: ')' });
    this.expect(')');
    return node;
  }

  private list(close: string, item: () => JsonNode): JsonNode[] {
    const items: JsonNode[] = [];
    this.at++;
    while (!this.skip(close)) {
      if (items.length > 0) this.expect(',');
      items.push(item());
    }
    return items;
  }

  private table(): JsonNode {
    this.at++;
    const count = Number(this.take(/\d+/y));
    const isMap = this.skip('*');
    const columns = this.columns();
    this.expect('\n');
    const keys: string[] = [];
    const items: JsonNode[] = [];
    for (let row = 0; row < count; row++) {
      const first = { value: true, end: '\n' };
      if (isMap) {
        keys.push(this.key());
        first.value = false;
      }
      items.push(this.row(columns, first));
      if (row < count - 1 || !this.done) this.expect('\n');
    }
    return isMap ? { kind: 'object', keys, values: items } : { kind: 'array', items };
  }

  private columns(): Column[] {
    const columns: Column[] = [];
    this.expect('(');
    while (!this.skip(')')) {
      if (columns.length > 0) this.expect(',');
      columns.push(this.column());
    }
    return columns;
  }

  private column(): Column {
    const key = this.key();
    if (this.text[this.at] === '(') return { kind: 'group', key, columns: this.columns() };
    if (this.skip('=')) return { kind: 'constant', key, raw: printCompact(this.value()) };
    const prefix = this.skip('^') ? this.scalar().slice(1, -1) : '';
    return { kind: 'cell', key, prefix };
  }

  private row(columns: readonly Column[], first: RowState): JsonNode {
    const keys: string[] = [];
    const values: JsonNode[] = [];
    for (const column of columns) {
      const value = this.member(column, first);
      if (value === undefined) continue;
      keys.push(column.key);
      values.push(value);
    }
    return { kind: 'object', keys, values };
  }

  private member(column: Column, first: RowState): JsonNode | undefined {
    if (column.kind === 'constant') return readJson(column.raw);
    if (column.kind === 'group') return this.row(column.columns, first);
    if (!first.value) this.expect(',');
    first.value = false;
    return this.cell(column.prefix, first.end);
  }

  private cell(prefix: string, end: string): JsonNode | undefined {
    const char = this.text[this.at];
    if (char === undefined || char === ',' || char === end) return undefined;
    if (char === '[' || char === '{' || char === '#') return this.value();
    if (char === '"') return { kind: 'scalar', raw: `"${prefix}${this.scalar().slice(1)}` };
    const bare = this.take(end === ')' ? /[^,\n)]+/y : /[^,\n]+/y);
    const literal =
      prefix === '' && /^(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)$/.test(bare);
    return { kind: 'scalar', raw: literal ? bare : `"${prefix}${bare}"` };
  }

  private key(): string {
    return this.text[this.at] === '"' ? this.scalar() : `"${this.take(/[\w$.-]+/y)}"`;
  }

  private scalar(): string {
    if (this.text[this.at] !== '"') return this.take(/[\w.+-]+/y);
    let end = this.at + 1;
    while (this.text[end] !== '"') {
      if (end >= this.text.length) throw new SyntaxError('unfinished string');
      end += this.text[end] === '\\' ? 2 : 1;
    }
    const raw = this.text.slice(this.at, end + 1);
    this.at = end + 1;
    return raw;
  }

  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match === null) throw new SyntaxError(`unexpected text at ${this.at}`);
    this.at += match[0].length;
    return match[0];
  }

  private skip(char: string): boolean {
    if (this.text[this.at] !== char) return false;
    this.at++;
    return true;
  }

  private expect(char: string): void {
    if (!this.skip(char)) throw new SyntaxError(`expected ${char} at ${this.at}`);
  }
}
