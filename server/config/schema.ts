/**
 * The config file as JSON Schema (draft 2020-12), for editors. Only this module loads arktype (see
 * stages/settings/kind.ts for the cost).
 */
import type { Setting } from '../../stages/settings/setting.ts';
import { settings } from './settings.ts';

type Json = Readonly<Record<string, unknown>>;

/** A map of settings under construction. */
interface Section {
  readonly type: readonly ['object', 'null'];
  readonly properties: Record<string, Section | Json>;
  /** Schema of user-named keys. */
  additionalProperties: Section | false;
}

/**
 * Returns a schema that accepts what a start accepts, apart from checks between settings
 * (checks.ts) and `refuse`.
 */
export async function configJsonSchema(): Promise<Json> {
  const { type } = await import('arktype');
  const root = section();
  for (const setting of settings) {
    const { $schema: _, ...value } = type.raw(setting.type.definition).toJsonSchema();
    for (const spelling of [setting.key, ...(setting.aliases ?? [])])
      setAt(root, spelling.split('.'), withDescription(setting, value, spelling));
  }
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'svc', ...root };
}

/** A section may also be null: YAML reads one with all lines commented out that way. */
function section(): Section {
  return { type: ['object', 'null'], properties: {}, additionalProperties: false };
}

function withDescription(setting: Setting, value: object, spelling: string): Json {
  const nullable = setting.default === null ? { anyOf: [value, { type: 'null' }] } : value;
  const isAlias = spelling !== setting.key;
  return {
    ...nullable,
    description: isAlias ? `The same as ${setting.key}.` : setting.about,
    default: setting.default,
  };
}

function setAt(root: Section, path: readonly string[], value: Json): void {
  let at = root;
  for (const segment of path.slice(0, -1)) {
    if (segment.startsWith('<')) at = at.additionalProperties ||= section();
    else at = (at.properties[segment] ??= section()) as Section;
  }
  at.properties[path.at(-1)!] = value;
}
