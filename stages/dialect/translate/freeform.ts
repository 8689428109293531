/**
 * Tools that take free text instead of JSON. Only some dialects have them, so the canonical form is
 * a function of one string; the model's input is unwrapped again.
 */
import type { CanonicalTool, JsonObject, Note } from '../canonical.ts';
import { parseArguments } from '../exact-json.ts';
import { filledString, stringOf } from '../json-kind.ts';

const freeformSchema: JsonObject = Object.freeze({
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
});

/**
 * Returns the function that replaces such a tool. Its `grammar`, which only some providers enforce,
 * becomes part of its description, with a note.
 */
export function freeformTool(tool: JsonObject, grammar: JsonObject, note: Note): CanonicalTool {
  const name = stringOf(tool.name) ?? '';
  const texts = [filledString(tool.description)];
  if (typeof grammar.definition === 'string') {
    const syntax = stringOf(grammar.syntax) ?? '';
    texts.push(`The input follows this ${syntax} grammar:\n${grammar.definition}`);
    note(`the grammar of tool ${name} is described to the model, not enforced`);
  }
  const description = texts.filter((text) => text !== undefined).join('\n\n');
  const read = { name, schema: freeformSchema, freeform: true };
  return description === '' ? read : { ...read, description };
}

/** Wraps free text as the JSON arguments of the replacement function. */
export function wrapFreeform(text: string): string {
  return JSON.stringify({ input: text });
}

/** Returns the free text in such arguments; arguments of another shape are themselves the text. */
export function unwrapFreeform(input: string): string {
  const text = parseArguments(input)?.input;
  return typeof text === 'string' ? text : input;
}
