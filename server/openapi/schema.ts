/** Short constructors for the schemas of OpenAPI 3.0; every field of an object is required unless it says otherwise. */

/** A schema object of OpenAPI 3.0. */
export type Schema = Readonly<Record<string, unknown>>;

export const text: Schema = { type: 'string' };
export const flag: Schema = { type: 'boolean' };
export const whole: Schema = { type: 'integer', minimum: 0 };
export const number: Schema = { type: 'number' };
/** ISO 8601 in UTC. */
export const moment: Schema = { type: 'string', format: 'date-time' };

/** `null` is what was not measured. */
export function nullable(schema: Schema): Schema {
  return { ...schema, nullable: true };
}

export function oneOf(...values: readonly string[]): Schema {
  return { type: 'string', enum: values };
}

export function list(items: Schema, maxItems?: number): Schema {
  return { type: 'array', items, ...(maxItems !== undefined && { maxItems }) };
}

/** An object with these fields; those of `optional` may be missing. */
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

/** An object with these fields and whatever else. */
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

/** An object whose keys are names. */
export function byName(values: Schema): Schema {
  return { type: 'object', additionalProperties: values };
}

/** The same schema with words about it. */
export function about(schema: Schema, description: string): Schema {
  return { ...schema, description };
}

/** A schema of `components`. */
export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}
