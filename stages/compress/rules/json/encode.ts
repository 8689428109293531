/**
 * Encodes JSON without loss: arrays and maps of similar objects become tables, the rest loses its
 * insignificant white space. Every encoding is decoded again before it is used.
 */
import type { Apply, Compressed } from '../rule.ts';
import { decodeJson } from './decode.ts';
import { printCompact, readJson, type JsonNode, type ObjectNode } from './lexer.ts';
import { planColumns, printColumns, printKey, printRow } from './table.ts';
import { findShapes, signatureOf, type Shape } from './shapes.ts';
import { estimateTokens } from '../../../model/tokens.ts';
import { lineBreaks } from '../../text/line-breaks.ts';
import { MARK } from '../../text/marker.ts';

/** In a file with fewer lines, no line is worth a later reference. */
const MIN_LINES = 4;

const FORMAT_NOTE =
  '@N(columns) opens a table of N, one a line; col="x" holds for all rows, col^"p" means cells start with p, empty cell = key absent';
/** Explains the table format to a model that has never seen it. */
const JSON_HEADER = `${MARK}JSON, complete: ${FORMAT_NOTE}]`;
/** The header where objects are also written as `#k(values)`. */
const JSON_SHAPES_HEADER = `${MARK}JSON, complete: ${FORMAT_NOTE}; #k(cells) is an object with the columns of #k=]`;
/** The header for one JSON value a line. */
const JSON_LINES_HEADER = `${MARK}JSON Lines, complete: ${FORMAT_NOTE}]`;

/** Re-encodes JSON: drops white space, and replaces repeated keys by tables. */
export const compressJson: Apply = (text, { mode, classification }) => {
  // Files are not encoded: an edit must quote the old text verbatim, and a later read is mostly
  // replaced by references to the lines sent before, which saves more than encoding the whole file.
  if (classification.file === true && (mode !== 'aggressive' || lineBreaks(text) >= MIN_LINES))
    return undefined;
  const node = readJson(text);
  return node === undefined ? encodeLines(text) : encodeValue(text, node);
};

function encodeValue(text: string, node: JsonNode): Compressed | undefined {
  const compact = printCompact(node);
  const candidates = [withTables(node), withShapes(node)]
    .filter((encoded) => encoded !== undefined)
    .filter((encoded) => encoded.length < compact.length * 0.95)
    .map((encoded) => ({ encoded, tokens: estimateTokens(encoded) }))
    .toSorted((a, b) => a.tokens - b.tokens);
  const best = candidates.find(({ encoded }) => decodeJson(encoded) === compact);
  if (best !== undefined && best.tokens < estimateTokens(compact))
    return { text: best.encoded, removed: [] };
  return compact.length < text.length ? { text: compact, removed: [] } : undefined;
}

function withTables(node: JsonNode): string | undefined {
  const printer = new Printer(new Map());
  const body = printer.print(node).trimEnd();
  return printer.tables === 0 ? undefined : `${JSON_HEADER}\n${body}`;
}

function withShapes(node: JsonNode): string | undefined {
  const shapes = findShapes(node);
  if (shapes.size === 0) return undefined;
  const printer = new Printer(shapes);
  const body = printer.print(node).trimEnd();
  const used = [...shapes.values()].filter((shape) => printer.used.has(shape.id));
  if (used.length === 0) return undefined;
  const definitions = used.map((shape) => `#${shape.id}=(${printColumns(shape.columns)})`);
  return [JSON_SHAPES_HEADER, ...definitions, body].join('\n');
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
  const table = new Printer(new Map()).table(rows, undefined);
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
  readonly used = new Set<number>();
  private readonly shapes: ReadonlyMap<string, Shape>;

  constructor(shapes: ReadonlyMap<string, Shape>) {
    this.shapes = shapes;
  }

  print(node: JsonNode): string {
    if (node.kind === 'scalar') return node.raw;
    if (node.kind === 'array') {
      const table = this.table(node.items, undefined);
      return table ?? `[${node.items.map((item) => this.print(item)).join(',')}]`;
    }
    const table = this.table(node.values, node.keys);
    return table ?? this.object(node, (value) => this.print(value));
  }

  /** Writes a value on one line, as cells need it: with shapes, without tables. */
  private inline(node: JsonNode): string {
    if (node.kind === 'scalar') return node.raw;
    if (node.kind === 'array') return `[${node.items.map((item) => this.inline(item)).join(',')}]`;
    return this.object(node, (value) => this.inline(value));
  }

  private object(node: ObjectNode, print: (value: JsonNode) => string): string {
    const shape = this.shapes.get(signatureOf(node));
    if (shape === undefined) {
      const members = node.keys.map((key, at) => `${key}:${print(node.values[at]!)}`);
      return `{${members.join(',')}}`;
    }
    this.used.add(shape.id);
    const style = { nested: (value: JsonNode) => this.inline(value), bracketed: true };
    return `#${shape.id}(${printRow(node, shape.columns, style).join(',')})`;
  }

  /**
   * Writes rows as a table, with map keys as first column if given; undefined if that would not be
   * shorter.
   */
  table(rows: readonly JsonNode[], keys: readonly string[] | undefined): string | undefined {
    const columns = planColumns(rows);
    if (columns === undefined) return undefined;
    const opening = `@${rows.length}${keys === undefined ? '' : '*'}(${printColumns(columns)})`;
    const style = { nested: (value: JsonNode) => this.inline(value), bracketed: false };
    const lines = rows.map((row, at) => {
      const key = keys === undefined ? [] : [printKey(keys[at]!)];
      return [...key, ...printRow(row, columns, style)].join(',');
    });
    const table = `${opening}\n${lines.join('\n')}\n`;
    const plain = rows.reduce((sum, row) => sum + printCompact(row).length + 1, 0);
    if (table.length >= plain * 0.95) return undefined;
    this.tables++;
    return table;
  }
}
