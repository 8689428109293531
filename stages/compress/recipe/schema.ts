/**
 * The JSON Schema of recipes, for editors: names, documentation and types of everything a recipe
 * may contain.
 */
import { MATCH_PARTS, MAX_OPERATIONS, RECIPE_NAME } from './check.ts';
import type { Param, ParamKind } from './operation.ts';
import { OPERATIONS } from './operations.ts';

type Schema = Readonly<Record<string, unknown>>;

const ONE_OR_MORE: Schema = {
  anyOf: [
    { type: 'string', minLength: 1 },
    { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1 },
  ],
};

/** Returns the schema, draft 2020-12. */
export function recipeSchema(): Schema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Recipe of compression',
    type: 'object',
    required: ['name', 'match'],
    anyOf: [{ required: ['operations'] }, { required: ['on_success'] }],
    additionalProperties: false,
    properties: {
      name: { type: 'string', pattern: RECIPE_NAME.source, description: 'Its name in traces' },
      description: { type: 'string' },
      match: {
        type: 'object',
        minProperties: 1,
        additionalProperties: false,
        description: 'Which texts it is for; every condition must hold',
        properties: Object.fromEntries(
          Object.entries(MATCH_PARTS).map(([name, { words, about }]) => [
            name,
            { description: about, ...oneOrMore(words) },
          ]),
        ),
      },
      must_keep: { ...ONE_OR_MORE, description: 'Patterns of lines that stay to the letter' },
      operations: listOfOperations('What is done, in this order'),
      on_success: listOfOperations(
        'Further steps, applied unless the command appears to have failed',
      ),
      examples: {
        type: 'array',
        items: {
          type: 'object',
          required: ['from', 'made'],
          additionalProperties: false,
          properties: {
            from: { type: 'string', description: 'Program and version' },
            made: { enum: ['run', 'hand'] },
            command: { type: 'string' },
            tool: { type: 'string' },
            path: { type: 'string' },
            input: { type: 'string' },
            file: { type: 'string', description: 'A file beside the recipe, in place of input' },
            output: { type: 'string' },
            keeps: { type: 'array', items: { type: 'string' } },
            saves: { type: 'number', minimum: 0, maximum: 100 },
          },
        },
      },
    },
  };
}

function listOfOperations(description: string): Schema {
  return {
    description,
    type: 'array',
    minItems: 1,
    maxItems: MAX_OPERATIONS,
    items: { anyOf: [...OPERATIONS].flatMap(([name, one]) => operationSchemas(name, one)) },
  };
}

function oneOrMore(words: readonly string[] | undefined): Schema {
  if (words === undefined) return ONE_OR_MORE;
  return { anyOf: [{ enum: words }, { type: 'array', items: { enum: words }, minItems: 1 }] };
}

function operationSchemas(
  name: string,
  { about, params }: { readonly about: string; readonly params: Readonly<Record<string, Param>> },
): readonly Schema[] {
  const required = Object.keys(params).filter((one) => params[one]!.default === undefined);
  const map: Schema = {
    type: 'object',
    required: [name],
    additionalProperties: false,
    properties: {
      [name]: {
        description: about,
        type: 'object',
        additionalProperties: false,
        required,
        properties: Object.fromEntries(
          Object.entries(params).map(([one, param]) => [one, paramSchema(param)]),
        ),
      },
    },
  };
  return required.length > 0 ? [map] : [{ const: name, description: about }, map];
}

function paramSchema({ kind, about, min = 0, default: value }: Param): Schema {
  const rest = { description: about, ...(value !== undefined && { default: value }) };
  const kinds: Readonly<Record<ParamKind, Schema>> = {
    patterns: ONE_OR_MORE,
    count: { type: 'integer', minimum: min },
    names: { type: 'array', items: { type: 'string' }, minItems: 1 },
    text: { type: 'string' },
  };
  return { ...kinds[kind], ...rest };
}
