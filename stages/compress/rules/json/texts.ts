/**
 * Texts that a client passes inside a JSON document: `[{"query":"make","result":"…\n…"}]`,
 * `{"stdout":"…\n…","exitCode":0}`. There every line break and quote is escaped and everything is
 * one line, so no rule recognizes it. Written below the document, they are texts like any other:
 *
 *     [{"query":"make","result":"[svc text 1 below]","success":true}]
 *     [svc text 1]
 *     cc -o main main.c
 */
import { hasMark } from '../../text/has-mark.ts';
import { MARK } from '../../text/marker.ts';
import { printCompact, readJson, type JsonNode, type ObjectNode } from './lexer.ts';

/** A text with fewer characters or line breaks stays in the document. */
const MIN_CHARS = 200;
const MIN_BREAKS = 2;
/** Minimum share of the document that its texts must make up. */
const MIN_SHARE = 0.5;
/** Maximum length of a member beside a text, such as a command, in characters. */
const MAX_CONTEXT_CHARS = 2000;
/** Documents with more texts are records, which the JSON encodings handle better. */
const MAX_TEXTS = 20;

/** A text, and the short members of the object that holds it. */
export interface EmbeddedText {
  readonly text: string;
  readonly context: Readonly<Record<string, string>>;
}

export interface TextsInJson {
  /** The compact document, its texts replaced by references. */
  readonly frame: string;
  /** In reference order. */
  readonly texts: readonly EmbeddedText[];
}

/** Extracts the texts of a document that holds little else; undefined for any other. */
export function textsInJson(json: string): TextsInJson | undefined {
  // A cheap test that nearly all results fail: they hold no escaped line break.
  if (!/^\s*[[{]/.test(json) || !json.includes('\\n')) return undefined;
  const node = readJson(json);
  if (node === undefined) return undefined;
  const found: (EmbeddedText & { readonly chars: number })[] = [];
  const frame = printCompact(withoutTexts(node, undefined, found));
  const chars = found.reduce((sum, one) => sum + one.chars, 0);
  if (found.length === 0 || found.length > MAX_TEXTS || chars < json.length * MIN_SHARE)
    return undefined;
  if (found.some(({ text }) => hasMark(text) || /\p{Cs}/u.test(text))) return undefined;
  return { frame, texts: found.map(({ text, context }) => ({ text, context })) };
}

/** Writes the document with its texts below it. */
export function writeTexts(frame: string, texts: readonly string[]): string {
  return [frame, ...texts.flatMap((text, at) => [`${MARK}text ${at + 1}]`, text])].join('\n');
}

function withoutTexts(
  node: JsonNode,
  parent: ObjectNode | undefined,
  found: (EmbeddedText & { readonly chars: number })[],
): JsonNode {
  if (node.kind === 'array')
    return { ...node, items: node.items.map((item) => withoutTexts(item, undefined, found)) };
  if (node.kind === 'object')
    return { ...node, values: node.values.map((value) => withoutTexts(value, node, found)) };
  const text = textOf(node.raw);
  if (text === undefined) return node;
  found.push({ text, context: contextOf(parent), chars: node.raw.length });
  return { kind: 'scalar', raw: `"${MARK}text ${found.length} below]"` };
}

/** Returns the value of a string that is a text of several lines. */
function textOf(raw: string): string | undefined {
  if (raw.length < MIN_CHARS || raw[0] !== '"') return undefined;
  const text = stringOf(raw);
  return text !== undefined && text.split('\n', MIN_BREAKS + 1).length > MIN_BREAKS
    ? text
    : undefined;
}

function contextOf(parent: ObjectNode | undefined): Readonly<Record<string, string>> {
  const members = (parent?.keys ?? []).flatMap((key, at) => {
    const value = parent?.values[at];
    if (value?.kind !== 'scalar' || value.raw[0] !== '"' || value.raw.length > MAX_CONTEXT_CHARS)
      return [];
    const [name, said] = [stringOf(key), stringOf(value.raw)];
    return name === undefined || said === undefined ? [] : [[name, said] as const];
  });
  return Object.fromEntries(members);
}

/** Parses a quoted string; undefined if an escape in it is invalid. */
function stringOf(raw: string): string | undefined {
  try {
    return String(JSON.parse(raw));
  } catch {
    return undefined;
  }
}
