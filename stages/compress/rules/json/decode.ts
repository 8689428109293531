/** Decoder for `encode.ts`: used on every encoding before it is sent, and by tests. */
import { printCompact, readJson, Scanner, ifWellFormed, type JsonNode } from './lexer.ts';
import type { Column } from './table.ts';
import { MARK } from '../../text/marker.ts';

/**
 * Decodes an encoding to compact JSON (or JSON Lines), scalars as they were written; undefined
 * where svc did not write it.
 */
export function decodeJson(text: string): string | undefined {
  if (!text.startsWith(`${MARK}JSON`)) return undefined;
  const headerEnd = text.indexOf('\n');
  if (headerEnd < 0) return undefined;
  const lines = text.startsWith(`${MARK}JSON Lines`);
  const decoder = new Decoder(text.slice(headerEnd + 1));
  const node = ifWellFormed(() => decoder.whole());
  if (node === undefined || !lines) return node && printCompact(node);
  return node.kind === 'array' ? node.items.map(printCompact).join('\n') : undefined;
}

/** Parser state in a row: whether a cell has been read, and the end of the row. */
interface RowState {
  value: boolean;
  readonly end: string;
}

class Decoder extends Scanner {
  private readonly shapes = new Map<string, readonly Column[]>();

  /** Reads everything below the header: shape definitions, and the value. */
  whole(): JsonNode {
    while (/^#\d{1,4}=\(/.test(this.text.slice(this.at, this.at + 8))) {
      this.at++;
      const id = this.take(/\d+/y);
      this.expect('=');
      this.shapes.set(id, this.columns());
      this.expect('\n');
    }
    const node = this.value();
    if (!this.isDone) throw new SyntaxError(`unexpected text at ${this.at}`);
    return node;
  }

  private value(): JsonNode {
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
      if (row < count - 1 || !this.isDone) this.expect('\n');
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
    return this.text[this.at] === '"' ? this.string() : this.take(/[\w.+-]+/y);
  }
}
