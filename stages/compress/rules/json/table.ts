/**
 * Columns of a JSON table: which arrays and maps of similar objects can be written as a header and
 * rows, and how. Nothing is lost: key order, absent keys, number text and string escapes are all
 * restored (see `decode.ts`).
 */
import { printCompact, type JsonNode, type ObjectNode } from './lexer.ts';

/** One leaf column, or a group of columns for an object that every row has. */
export type Column =
  | { readonly kind: 'cell'; readonly key: string; readonly prefix: string }
  | { readonly kind: 'constant'; readonly key: string; readonly raw: string }
  | { readonly kind: 'group'; readonly key: string; readonly columns: readonly Column[] };

const MIN_ROWS = 3;
const MIN_PREFIX = 5;
const MAX_GROUP_DEPTH = 4;

/**
 * Returns columns for all rows; undefined if rows differ in key order, repeat a key, or are too
 * few.
 */
export function planColumns(rows: readonly JsonNode[]): readonly Column[] | undefined {
  if (rows.length < MIN_ROWS || !rows.every(isObject)) return undefined;
  return planGroup(rows, 0);
}

function isObject(node: JsonNode): node is ObjectNode {
  return node.kind === 'object';
}

function planGroup(rows: readonly ObjectNode[], depth: number): readonly Column[] | undefined {
  const order = mergedOrder(rows);
  if (order === undefined || order.length === 0) return undefined;
  const lookup = rows.map((row) => new Map(row.keys.map((key, at) => [key, row.values[at]!])));
  return order.map((key) =>
    planColumn(
      key,
      lookup.map((row) => row.get(key)),
      depth,
    ),
  );
}

function planColumn(key: string, cells: readonly (JsonNode | undefined)[], depth: number): Column {
  const present = cells.filter((cell) => cell !== undefined);
  if (present.length < cells.length) return { kind: 'cell', key, prefix: '' };
  const first = printCompact(present[0]!);
  if (present.every((cell) => sameText(cell, first))) return { kind: 'constant', key, raw: first };
  if (depth < MAX_GROUP_DEPTH && present.every(isObject)) {
    const columns = planGroup(present, depth + 1);
    const full = present.every((row) => row.keys.length > 0);
    if (columns !== undefined && full) return { kind: 'group', key, columns };
  }
  return { kind: 'cell', key, prefix: commonPrefix(present) };
}

function sameText(node: JsonNode, text: string): boolean {
  return node.kind === 'scalar' ? node.raw === text : printCompact(node) === text;
}

/** Returns the keys by first appearance, if every row keeps that order and none has a key twice. */
function mergedOrder(rows: readonly ObjectNode[]): readonly string[] | undefined {
  const order: string[] = [];
  const columnOf = new Map<string, number>();
  for (const { keys } of rows) {
    for (const key of keys) {
      if (!columnOf.has(key)) columnOf.set(key, order.push(key) - 1);
    }
  }
  const ordered = rows.every(({ keys }) =>
    keys.every((key, at) => at === 0 || columnOf.get(keys[at - 1]!)! < columnOf.get(key)!),
  );
  return ordered ? order : undefined;
}

/**
 * Returns the longest prefix shared by all cells, if all are strings; never ends inside an escape.
 */
function commonPrefix(cells: readonly JsonNode[]): string {
  let prefix: string | undefined;
  for (const cell of cells) {
    if (cell.kind !== 'scalar' || !cell.raw.startsWith('"')) return '';
    const inner = cell.raw.slice(1, -1);
    if (prefix === undefined) prefix = inner;
    while (!inner.startsWith(prefix)) prefix = prefix.slice(0, -1);
    if (prefix.length < MIN_PREFIX) return '';
  }
  const escape = prefix?.indexOf('\\') ?? -1;
  const safe = escape >= 0 ? prefix!.slice(0, escape) : (prefix ?? '');
  return safe.length < MIN_PREFIX ? '' : safe;
}

const BARE_KEY = /^[\w$.-]+$/;
const BARE_CELL = /^[\w./@:+~$%&*?!<>()-][^",\n\r\\]*$/;
const RESERVED = /^(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/** Prints a key as in the header: without quotes if it is a plain word. */
export function printKey(raw: string): string {
  const inner = raw.slice(1, -1);
  return BARE_KEY.test(inner) ? inner : raw;
}

/** Prints the header's column list: `id,type="User",url^"https://x/",owner(login,id)`. */
export function printColumns(columns: readonly Column[]): string {
  return columns
    .map((column) => {
      const key = printKey(column.key);
      if (column.kind === 'constant') return `${key}=${column.raw}`;
      if (column.kind === 'group') return `${key}(${printColumns(column.columns)})`;
      return column.prefix === '' ? key : `${key}^"${column.prefix}"`;
    })
    .join(',');
}

/** How cell values are printed, and which characters a bare string must not contain. */
export interface CellStyle {
  /** Prints an array or an object. */
  readonly nested: (node: JsonNode) => string;
  /** True inside the brackets of a shape, where a closing bracket ends the row. */
  readonly bracketed: boolean;
}

/** Prints the cells of a row, in header order; an absent key is an empty cell. */
export function printRow(
  row: JsonNode,
  columns: readonly Column[],
  style: CellStyle,
): readonly string[] {
  if (row.kind !== 'object') return [];
  const values = new Map(row.keys.map((key, at) => [key, row.values[at]!]));
  return columns.flatMap((column) => {
    const value = values.get(column.key);
    if (column.kind === 'constant') return [];
    if (column.kind === 'group') return printRow(value!, column.columns, style);
    return [value === undefined ? '' : printCell(value, column.prefix, style)];
  });
}

/** Prints a cell; a string is printed without quotes if it is unambiguous. */
function printCell(value: JsonNode, prefix: string, style: CellStyle): string {
  if (value.kind !== 'scalar') return style.nested(value);
  if (!value.raw.startsWith('"')) return value.raw;
  const inner = value.raw.slice(1 + prefix.length, -1);
  const bare = BARE_CELL.test(inner) && !RESERVED.test(inner) && !inner.endsWith(' ');
  return bare && !(style.bracketed && inner.includes(')')) ? inner : `"${inner}"`;
}
