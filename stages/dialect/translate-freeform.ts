/**
 * Tools that take free text instead of JSON. Only some dialects have them, so in the
 * middle they are functions of one string; what the model says comes back unwrapped.
 */
import type { CanonicalTool, JsonObject, Note } from './canonical.ts';
import { parseArguments } from './translate-json.ts';

const freeformSchema: JsonObject = Object.freeze({
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
});

/** A grammar for a tool's text, which only some providers enforce. */
export interface Grammar {
  readonly syntax: string;
  readonly definition: string;
}

/** The function that stands for such a tool. A grammar becomes part of its description, with a note. */
export function freeformTool(
  name: string,
  description: string | undefined,
  grammar: Grammar | undefined,
  note: Note,
): CanonicalTool {
  const rule =
    grammar === undefined
      ? []
      : [`The input follows this ${grammar.syntax} grammar:\n${grammar.definition}`];
  if (grammar !== undefined)
    note(`the grammar of tool ${name} is described to the model, not enforced`);
  const fullText = [...(description === undefined ? [] : [description]), ...rule].join('\n\n');
  const tool = { name, schema: freeformSchema, freeform: true };
  return fullText === '' ? tool : { ...tool, description: fullText };
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
