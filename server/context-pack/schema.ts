/**
 * The schema of a context pack, version 1.0: a header, the pack's subject, and blocks of context.
 * It is published as `context-pack-1.0.json` beside this file, which `svc validate --schema`
 * prints; both the check of a file and that document come from this one table.
 */

/** The subset of JSON Schema (draft 2020-12) that the table uses. */
export interface PackSchema {
  readonly type?: 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean';
  readonly description?: string;
  readonly properties?: Readonly<Record<string, PackSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly items?: PackSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly format?: 'date-time';
}

const text = (description: string): PackSchema => ({ type: 'string', description });
const open = (description: string): PackSchema => ({ type: 'object', description });
const dateTime = (description: string): PackSchema => ({
  type: 'string',
  format: 'date-time',
  description: `${description}, ISO 8601 with its zone`,
});

function object(
  description: string,
  properties: Readonly<Record<string, PackSchema>>,
  required: readonly string[],
): PackSchema {
  return { type: 'object', description, properties, required, additionalProperties: false };
}

const BLOCK_TYPES = [
  'instructions',
  'code',
  'knowledge',
  'memory',
  'conversation',
  'evidence',
  'system',
] as const;
const PRIORITIES = ['critical', 'high', 'medium', 'low', 'internal'] as const;

const header = object(
  'Which pack this is',
  {
    version: { type: 'string', pattern: '^1\\.[0-9]+$', description: 'Version of the schema' },
    id: { type: 'string', minLength: 4, maxLength: 128, description: 'Id of the pack' },
    created: dateTime('When the pack was created'),
  },
  ['version', 'id', 'created'],
);

const metadata = object(
  'What the pack is for',
  {
    task: text('What to do with it'),
    source: text('Its source'),
    target: text('Intended audience'),
    tags: {
      type: 'array',
      items: { type: 'string' },
      maxItems: 50,
      description: 'Search keywords',
    },
    expires: dateTime('Time after which it must not be used'),
  },
  ['task', 'source'],
);

const block = object(
  'A piece of context',
  {
    type: { type: 'string', enum: BLOCK_TYPES, description: 'What kind of context' },
    id: {
      type: 'string',
      pattern: '^[A-Za-z0-9_.-]+$',
      description: 'Unique in the pack: letters, digits, _ - .',
    },
    content: text('The text'),
    tokens: { type: 'integer', minimum: 0, description: 'Its length in tokens' },
    priority: {
      type: 'string',
      enum: PRIORITIES,
      description: 'Which blocks to keep if not all fit',
    },
    quality: { type: 'number', minimum: 0, maximum: 1, description: 'Quality of the content' },
    compacted: { type: 'boolean', description: 'Whether it was shortened' },
    provenance: open('Its source'),
  },
  ['type', 'id', 'content'],
);

/** The schema without its own header. */
export const contextPack: PackSchema = object(
  'A context pack',
  {
    header,
    metadata,
    blocks: { type: 'array', items: block, minItems: 1, description: 'The context itself' },
    capabilities: open('Required capabilities of the reader'),
    constraints: open('Rules that the reader must follow'),
    state: open('State of the work'),
    provenance: open('Origin of the pack'),
    policies: open('Permitted uses'),
    embeddings: open('Embeddings of its blocks'),
  },
  ['header', 'metadata', 'blocks'],
);

/** Returns the published document. */
export function packSchemaDocument(): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:svc:context-pack:1.0',
    title: 'Context pack 1.0',
    ...contextPack,
  };
}
