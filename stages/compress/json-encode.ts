/**
 * JSON, lossless: arrays and maps of alike objects become tables, the rest loses its
 * insignificant white space. Every encoding is decoded again before it is used.
 */
import type { Compressed, Compressor } from './compressor.ts';
import { decodeJson } from './json-decode.ts';
import { printCompact, readJson, type JsonNode } from './json-lexer.ts';
import { planColumns, printColumns, printKey, printRow } from './json-table.ts';
import { MARK } from './marker.ts';

/** Says once how to read a table, for a model that has never seen one. */
export const JSON_HEADER = `${MARK}JSON, complete: @N(columns) opens a table of N objects, one a line; col="x" holds for all rows, col^"p" means cells start with p, empty cell = key absent]`;
/** The same for one JSON value a line. */
export const JSON_LINES_HEADER = `${MARK}JSON Lines, complete: @N(columns) opens a table of N lines; col="x" holds for all rows, col^"p" means cells start with p, empty cell = key absent]`;

/** Re-encodes JSON; white space goes, and tables replace repeated keys. */
export const compressJson: Compressor = {
  name: 'json',
  classes: ['json'],
  apply(text) {
    const node = readJson(text);
    return node === undefined ? encodeLines(text) : encodeValue(text, node);
  },
};

function encodeValue(text: string, node: JsonNode): Compressed | undefined {
  const compact = printCompact(node);
  const printer = new Printer();
  const body = printer.print(node);
  if (printer.tables > 0) {
    const encoded = `${JSON_HEADER}\n${body.trimEnd()}`;
    if (encoded.length < compact.length * 0.95 && decodeJson(encoded) === compact) {
      return { text: encoded, removed: [] };
    }
  }
  return compact.length < text.length ? { text: compact, removed: [] } : undefined;
}

function encodeLines(text: string): Compressed | undefined {
  const lines = text.trimEnd().split('\n');
  if (lines.length < 3) return undefined;
  const rows: JsonNode[] = [];
  for (const line of lines) {
    const row = readJson(line);
    if (row === undefined) return undefined;
    rows.push(row);
  }
  const compact = rows.map(printCompact).join('\n');
  const table = new Printer().table(rows, undefined);
  if (table !== undefined) {
    const encoded = `${JSON_LINES_HEADER}\n${table.trimEnd()}`;
    if (encoded.length < compact.length * 0.95 && decodeJson(encoded) === compact) {
      return { text: encoded, removed: [] };
    }
  }
  return compact.length < text.length ? { text: compact, removed: [] } : undefined;
}

class Printer {
  tables = 0;

  print(node: JsonNode): string {
    if (node.kind === 'scalar') return node.raw;
    if (node.kind === 'array') {
      const table = this.table(node.items, undefined);
      return table ?? `[${node.items.map((item) => this.print(item)).join(',')}]`;
    }
    const table = this.table(node.values, node.keys);
    if (table !== undefined) return table;
    const members = node.keys.map((key, at) => `${key}:${this.print(node.values[at]!)}`);
    return `{${members.join(',')}}`;
  }

  /** The rows as a table, with map keys as a first column where given; undefined where it would not be shorter. */
  table(rows: readonly JsonNode[], keys: readonly string[] | undefined): string | undefined {
    const columns = planColumns(rows);
    if (columns === undefined) return undefined;
    const opening = `@${rows.length}${keys === undefined ? '' : '*'}(${printColumns(columns)})`;
    const lines = rows.map((row, at) => {
      const key = keys === undefined ? [] : [printKey(keys[at]!)];
      return [...key, ...printRow(row, columns)].join(',');
    });
    const table = `${opening}\n${lines.join('\n')}\n`;
    const plain = rows.reduce((sum, row) => sum + printCompact(row).length + 1, 0);
    if (table.length >= plain * 0.95) return undefined;
    this.tables++;
    return table;
  }
}
