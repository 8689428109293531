/**
 * Tools that take free text instead of JSON. Only some dialects have them, so in the
 * middle they are functions of one string; what the model says comes back unwrapped.
 */
import type { JsonObject } from './canonical.ts';
import { parseArguments } from './translate-json.ts';

export const freeformSchema: JsonObject = Object.freeze({
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
});

/** Free text as the JSON arguments of the function that stands for the tool. */
export function wrapFreeform(text: string): string {
  return JSON.stringify({ input: text });
}

/** The free text in such arguments; arguments of another shape are the text themselves. */
export function unwrapFreeform(input: string): string {
  const text = parseArguments(input)?.input;
  return typeof text === 'string' ? text : input;
}
