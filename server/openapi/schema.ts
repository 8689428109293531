/**
 * Short constructors for OpenAPI 3.0 schemas; every field of an object is required unless stated
 * otherwise.
 */

/** A schema object of OpenAPI 3.0. */
export type Schema = Readonly<Record<string, unknown>>;

export const text: Schema = { type: 'string' };
export const flag: Schema = { type: 'boolean' };
export const whole: Schema = { type: 'integer', minimum: 0 };
export const number: Schema = { type: 'number' };
/** ISO 8601 in UTC. */
export const moment: Schema = { type: 'string', format: 'date-time' };

/** Allows `null`, which means not measured. */
export function nullable(schema: Schema): Schema {
  return { ...schema, nullable: true };
}

export function oneOf(...values: readonly string[]): Schema {
  return { type: 'string', enum: values };
}

export function list(items: Schema, maxItems?: number): Schema {
  return { type: 'array', items, ...(maxItems !== undefined && { maxItems }) };
}

/** Returns an object schema with these fields; those of `optional` may be missing. */
export function object(
  fields: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
): Schema {
  const required = Object.keys(fields);
  return {
    type: 'object',
    properties: { ...fields, ...optional },
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** Returns an object schema with these fields and any others. */
export function open(
  fields: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): Schema {
  return {
    type: 'object',
    properties: fields,
    ...(required.length > 0 && { required }),
    additionalProperties: true,
  };
}

/** Returns the schema of an object whose keys are names. */
export function byName(values: Schema): Schema {
  return { type: 'object', additionalProperties: values };
}

/** Returns the schema with a description. */
export function about(schema: Schema, description: string): Schema {
  return { ...schema, description };
}

/** Returns a reference to a schema in `components`. */
export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}
