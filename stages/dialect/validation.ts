/**
 * The checks that every dialect's requests share: a field is present, and has its JSON type.
 * Anything finer is for the upstream to judge, since new fields and shapes come weekly.
 */
import type { SvcError } from '../../engine/index.ts';
import { missingField, wrongType } from '../model/errors.ts';
import { isObject, jsonTypeOf } from './json-kind.ts';
import type { JsonObject } from './json-kind.ts';

/** The JSON types of a field, as named in an error. */
type FieldType = 'string' | 'integer' | 'boolean' | 'array' | 'string or array';

export interface FieldRule {
  readonly name: string;
  readonly type: FieldType;
  readonly required?: boolean;
  /** True if an empty array is an error. */
  readonly filled?: boolean;
}

/**
 * Returns the first fault of `body` in the order of `rules`, as VALIDATION_002 or VALIDATION_003,
 * or undefined. A `null` counts as absent: clients write it for "not set".
 */
export function checkFields(body: unknown, rules: readonly FieldRule[]): SvcError | undefined {
  if (!isObject(body)) return wrongType('body', 'object', jsonTypeOf(body));
  for (const rule of rules) {
    const fault = checkField(body, rule);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function checkField(body: JsonObject, rule: FieldRule): SvcError | undefined {
  const value = body[rule.name];
  if (value === undefined || (value === null && rule.required !== true)) {
    return rule.required === true ? missingField(rule.name) : undefined;
  }
  const actualType = jsonTypeOf(value);
  if (!rule.type.split(' or ').includes(actualType))
    return wrongType(rule.name, rule.type, actualType);
  if (rule.filled === true && Array.isArray(value) && value.length === 0) {
    return wrongType(rule.name, 'non-empty array', 'empty array');
  }
  return undefined;
}
