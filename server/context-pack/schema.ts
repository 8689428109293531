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
    created: dateTime('When the pack was made'),
  },
  ['version', 'id', 'created'],
);

const metadata = object(
  'What the pack is for',
  {
    task: text('What is to be done with it'),
    source: text('Where it comes from'),
    target: text('Whom it is for'),
    tags: {
      type: 'array',
      items: { type: 'string' },
      maxItems: 50,
      description: 'Words to find it by',
    },
    expires: dateTime('From when on it is not to be used'),
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
    priority: { type: 'string', enum: PRIORITIES, description: 'What stays where not all fits' },
    quality: { type: 'number', minimum: 0, maximum: 1, description: 'How good it is' },
    compacted: { type: 'boolean', description: 'Whether it was shortened' },
    provenance: open('Where it comes from'),
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
    capabilities: open('What its reader must be able to do'),
    constraints: open('What its reader must keep to'),
    state: open('Where the work stands'),
    provenance: open('Where the pack comes from'),
    policies: open('What may be done with it'),
    embeddings: open('Vectors of its blocks'),
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
