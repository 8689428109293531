/**
 * Tools that take free text instead of JSON. Only some dialects have them, so in the
 * middle they are functions of one string; what the model says comes back unwrapped.
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
 * The function that stands for such a tool. Its `grammar`, which only some providers enforce,
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

/** Free text as the JSON arguments of the function that stands for the tool. */
export function wrapFreeform(text: string): string {
  return JSON.stringify({ input: text });
}

/** The free text in such arguments; arguments of another shape are the text themselves. */
export function unwrapFreeform(input: string): string {
  const text = parseArguments(input)?.input;
  return typeof text === 'string' ? text : input;
}
