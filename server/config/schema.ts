/**
 * The table as one arktype schema, section by section. Starting the proxy does not need
 * it: importing arktype alone takes most of the time that a start may take, so the rows'
 * own checks decide there (value.ts) and a property test holds both to the same verdicts.
 * What needs a schema as a value (editors, `config validate`, plugins) builds it here.
 */
import type { Type } from 'arktype';
import { allSettings } from './settings.ts';
import type { Setting } from './setting.ts';
import type { Definition } from './value.ts';

/** A section under construction, or a finished definition. */
type Draft = { [key: string]: unknown };

/**
 * Builds the schema of a config file. It accepts all that a start accepts, and refuses what
 * one refuses, but for checks between settings (checks.ts) and for a list in the place of a
 * map, which arktype takes for one.
 */
export async function configSchema(): Promise<Type<object>> {
  const { type } = await import('arktype');
  // The definition is data made from the table, so its type cannot be inferred here; the
  // values' types come from the same rows (SettingValue in settings.ts).
  return type(compose() as Parameters<typeof type.raw>[0] as never) as unknown as Type<object>;
}

/** The schema as JSON Schema (draft 2020-12), for editors. */
export async function configJsonSchema(): Promise<Readonly<Record<string, unknown>>> {
  const schema = await configSchema();
  return schema.toJsonSchema() as Readonly<Record<string, unknown>>;
}

function compose(): Draft {
  const root: Draft = { '+': 'reject' };
  for (const [key, row] of allSettings()) {
    for (const spelling of [key, ...(row.aliases ?? [])]) place(root, spelling.split('.'), row);
  }
  return close(root);
}

function place(root: Draft, path: readonly string[], row: Setting<unknown>): void {
  let section = root;
  for (const segment of path.slice(0, -1)) {
    const name = segment.startsWith('<') ? '[string]' : `${segment}?`;
    section[name] ??= segment.startsWith('<') || holdsNames(path, segment) ? {} : { '+': 'reject' };
    section = section[name] as Draft;
    if (segment.startsWith('<')) section['+'] = 'reject';
  }
  const definition = toArktype(row.type.definition);
  section[`${path.at(-1)}?`] =
    row.default === null ? new Leaf(nullable(definition)) : new Leaf(definition);
}

/** True for a section such as `providers`, whose keys are names. */
function holdsNames(path: readonly string[], segment: string): boolean {
  return path[path.indexOf(segment) + 1]?.startsWith('<') === true;
}

/** Marks a finished definition, so that closing a section does not walk into it. */
class Leaf {
  readonly definition: unknown;

  constructor(definition: unknown) {
    this.definition = definition;
  }
}

/** Every section may also be null: that is how YAML reads one with all lines commented out. */
function close(section: Draft): Draft {
  const closed: Draft = {};
  for (const [key, inner] of Object.entries(section)) {
    if (inner instanceof Leaf) closed[key] = inner.definition;
    else closed[key] = typeof inner === 'object' ? nullable(close(inner as Draft)) : inner;
  }
  return closed;
}

function nullable(definition: unknown): unknown {
  return [definition, '|', 'null'];
}

function toArktype(definition: Definition): unknown {
  if (typeof definition === 'string') return definition;
  const { list, either, or, map, shape } = definition;
  if (list !== undefined) return [toArktype(list), '[]'];
  if (either !== undefined && or !== undefined) return [toArktype(either), '|', toArktype(or)];
  if (map !== undefined) return { '[string]': toArktype(map) };
  const members = Object.entries(shape as Readonly<Record<string, Definition>>);
  return {
    ...Object.fromEntries(members.map(([key, one]) => [key, toArktype(one)])),
    '+': 'reject',
  };
}
