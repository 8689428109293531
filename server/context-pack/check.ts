/** Checks a value against a schema; returns all faults, each with its path. */
import type { PackSchema } from './schema.ts';

/** Names and indexes from the root. */
export type PackPath = readonly (string | number)[];

export interface PackFault {
  readonly path: PackPath;
  readonly message: string;
  /** True if the fault is the name of a member rather than its value. */
  readonly isName?: boolean;
}

/** Returns the faults of `value`, in document order. */
export function faultsOf(value: unknown, schema: PackSchema, path: PackPath = []): PackFault[] {
  const kind = kindOf(value);
  const { type } = schema;
  if (type !== undefined && kind !== type && !(type === 'number' && kind === 'integer'))
    return [{ path, message: `must be ${withArticle(type)}, is ${withArticle(kind)}` }];
  if (typeof value === 'string') return faultsOfText(value, schema, path);
  if (typeof value === 'number') return faultsOfNumber(value, schema, path);
  if (Array.isArray(value)) return faultsOfList(value, schema, path);
  return kind === 'object' ? faultsOfObject(value as object, schema, path) : [];
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isSafeInteger(value) ? 'integer' : typeof value;
}

function withArticle(kind: string): string {
  if (kind === 'null') return kind;
  return `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`;
}

function faultsOfText(value: string, schema: PackSchema, path: PackPath): PackFault[] {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format } = schema;
  const add = (message: string): PackFault[] => [{ path, message }];
  const length = Array.from(value).length;
  if (schema.enum !== undefined && !schema.enum.includes(value))
    return add(`must be one of ${schema.enum.join(', ')}`);
  if (length < minLength || length > maxLength)
    return add(`must have ${minLength} to ${maxLength} characters, has ${length}`);
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    return add(`must match ${pattern}`);
  if (format === 'date-time' && !isDateTime(value))
    return add('must be an ISO 8601 time with its zone, such as 2026-01-31T12:00:00Z');
  return [];
}

const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** True for an RFC 3339 §5.6 time on an existing day. */
function isDateTime(value: string): boolean {
  const [, year, month, day] = DATE_TIME.exec(value) ?? [];
  if (year === undefined) return false;
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(day);
}

function faultsOfNumber(value: number, schema: PackSchema, path: PackPath): PackFault[] {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  if (value >= minimum && value <= maximum) return [];
  const max = maximum === Number.POSITIVE_INFINITY ? '' : ` and at most ${maximum}`;
  return [{ path, message: `must be at least ${minimum}${max}` }];
}

function faultsOfList(list: readonly unknown[], schema: PackSchema, path: PackPath): PackFault[] {
  const { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  const faults: PackFault[] = [];
  if (list.length < minItems) faults.push({ path, message: `must have at least ${minItems} item` });
  if (list.length > maxItems)
    faults.push({ path, message: `must have at most ${maxItems} items, has ${list.length}` });
  if (items === undefined) return faults;
  return [...faults, ...list.flatMap((item, index) => faultsOf(item, items, [...path, index]))];
}

function faultsOfObject(value: object, schema: PackSchema, path: PackPath): PackFault[] {
  const { properties = {}, required = [], additionalProperties } = schema;
  const faults: PackFault[] = required
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => ({ path, message: `lacks "${name}"` }));
  for (const [name, member] of Object.entries(value)) {
    const at = [...path, name];
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known !== undefined) faults.push(...faultsOf(member, known, at));
    else if (additionalProperties === false)
      faults.push({ path: at, message: 'is not known here', isName: true });
  }
  return faults;
}
