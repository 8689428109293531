/**
 * Texts that a client hands over inside a JSON document: `[{"query":"make","result":"…\n…"}]`,
 * `{"stdout":"…\n…","exitCode":0}`. There every line break and quote is escaped and all of it is one
 * line, so no rule sees what it is. Written below the document as they are, they are texts like any other:
 *
 *     [{"query":"make","result":"[svc text 1 below]","success":true}]
 *     [svc text 1]
 *     cc -o main main.c
 */
import { hasMark } from '../../text/has-mark.ts';
import { MARK } from '../../text/marker.ts';
import { printCompact, readJson, type JsonNode, type ObjectNode } from './lexer.ts';

/** A text with less of either is left in the document. */
const MIN_CHARS = 200;
const MIN_BREAKS = 2;
/** Share of the document that its texts must be. */
const MIN_SHARE = 0.5;
/** What a member beside a text may have, such as a command. */
const BESIDE_CHARS = 2000;
/** More texts are records with a text each, which the encodings of JSON know better. */
const MAX_TEXTS = 20;

/** A text, and the short members of the object that it is a member of. */
export interface EmbeddedText {
  readonly text: string;
  readonly beside: Readonly<Record<string, string>>;
}

export interface TextsInJson {
  /** The document without white space that says nothing, its texts replaced by references. */
  readonly frame: string;
  /** In the order of their references. */
  readonly texts: readonly EmbeddedText[];
}

/** The texts of a document that is little else; undefined for any other. */
export function textsInJson(json: string): TextsInJson | undefined {
  // Cheap, and true for nearly all results: no line break is escaped in them.
  if (!/^\s*[[{]/.test(json) || !json.includes('\\n')) return undefined;
  const node = readJson(json);
  if (node === undefined) return undefined;
  const taken: (EmbeddedText & { readonly chars: number })[] = [];
  const frame = printCompact(withoutTexts(node, undefined, taken));
  const chars = taken.reduce((sum, one) => sum + one.chars, 0);
  if (taken.length === 0 || taken.length > MAX_TEXTS || chars < json.length * MIN_SHARE)
    return undefined;
  if (taken.some(({ text }) => hasMark(text) || /\p{Cs}/u.test(text))) return undefined;
  return { frame, texts: taken.map(({ text, beside }) => ({ text, beside })) };
}

/** The document with its texts below it. */
export function writeTexts(frame: string, texts: readonly string[]): string {
  return [frame, ...texts.flatMap((text, at) => [`${MARK}text ${at + 1}]`, text])].join('\n');
}

function withoutTexts(
  node: JsonNode,
  parent: ObjectNode | undefined,
  taken: (EmbeddedText & { readonly chars: number })[],
): JsonNode {
  if (node.kind === 'array')
    return { ...node, items: node.items.map((item) => withoutTexts(item, undefined, taken)) };
  if (node.kind === 'object')
    return { ...node, values: node.values.map((value) => withoutTexts(value, node, taken)) };
  const text = textOf(node.raw);
  if (text === undefined) return node;
  taken.push({ text, beside: besideOf(parent), chars: node.raw.length });
  return { kind: 'scalar', raw: `"${MARK}text ${taken.length} below]"` };
}

/** What a string says, if it is a text of several lines. */
function textOf(raw: string): string | undefined {
  if (raw.length < MIN_CHARS || raw[0] !== '"') return undefined;
  const text = stringOf(raw);
  return text !== undefined && text.split('\n', MIN_BREAKS + 1).length > MIN_BREAKS
    ? text
    : undefined;
}

function besideOf(parent: ObjectNode | undefined): Readonly<Record<string, string>> {
  const members = (parent?.keys ?? []).flatMap((key, at) => {
    const value = parent?.values[at];
    if (value?.kind !== 'scalar' || value.raw[0] !== '"' || value.raw.length > BESIDE_CHARS)
      return [];
    const [name, said] = [stringOf(key), stringOf(value.raw)];
    return name === undefined || said === undefined ? [] : [[name, said] as const];
  });
  return Object.fromEntries(members);
}

/** The value of a string in its quotes; undefined where an escape in it is none. */
function stringOf(raw: string): string | undefined {
  try {
    return String(JSON.parse(raw));
  } catch {
    return undefined;
  }
}
