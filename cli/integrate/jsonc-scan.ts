/**
 * Parses JSON with comments and trailing commas, as editors write it, with the position of each
 * value.
 */
import { SvcError } from '../../engine/error.ts';

/** A value and its position in the text. */
export interface JsonNode {
  readonly start: number;
  readonly end: number;
  /** For objects and lists use `members` and `items` instead. */
  readonly value: unknown;
  readonly members?: readonly JsonMember[];
  readonly items?: readonly JsonNode[];
}

/** One `"key": value` of an object. */
export interface JsonMember {
  readonly key: string;
  readonly start: number;
  readonly node: JsonNode;
  /** After the comma that follows the value; `node.end` if there is none. */
  readonly end: number;
}

const MAX_LEVELS = 100;

/**
 * Parses `text`.
 *
 * @throws SvcError `config` with the line of a syntax error.
 */
export function scanJson(text: string): JsonNode {
  let at = text.startsWith('\uFEFF') ? 1 : 0;

  function fail(what: string): never {
    const line = text.slice(0, at).split('\n').length;
    throw new SvcError('config', `it is not JSON: ${what} in line ${line}`);
  }

  function skip(): void {
    at = skipBlank(text, at) ?? fail('a comment has no end');
  }

  function value(level: number): JsonNode {
    skip();
    if (level > MAX_LEVELS) fail('too many levels');
    const start = at;
    if (text[at] === '{') return object(start, level);
    if (text[at] === '[') return list(start, level);
    const scalar = /"(?:[^"\\\n]|\\.)*"|[-+.\w]+/y;
    scalar.lastIndex = at;
    const raw = scalar.exec(text)?.[0] ?? fail('a value is missing');
    at += raw.length;
    return { start, end: at, value: parse(raw) };
  }

  function parse(raw: string): unknown {
    try {
      return JSON.parse(raw);
    } catch {
      return fail(`${raw.slice(0, 20)} is not a value`);
    }
  }

  /** Called after a value: consumes its comma; true if the closing bracket comes next. */
  function isLast(closing: string): boolean {
    skip();
    const hasComma = text[at] === ',';
    if (hasComma) at += 1;
    const afterComma = at;
    skip();
    if (text[at] === closing) return true;
    if (!hasComma) fail(`, or ${closing} is missing`);
    at = afterComma;
    return false;
  }

  function object(start: number, level: number): JsonNode {
    const members: JsonMember[] = [];
    at += 1;
    skip();
    for (let last = text[at] === '}'; !last;) {
      skip();
      const keyStart = at;
      const key = value(level + 1);
      if (typeof key.value !== 'string') fail('a key is missing');
      skip();
      if (text[at] !== ':') fail('a colon is missing');
      at += 1;
      const node = value(level + 1);
      const comma = skipBlank(text, node.end) ?? node.end;
      last = isLast('}');
      const end = text[comma] === ',' ? comma + 1 : node.end;
      members.push({ key: key.value, start: keyStart, node, end });
    }
    at += 1;
    return { start, end: at, value: {}, members };
  }

  function list(start: number, level: number): JsonNode {
    const items: JsonNode[] = [];
    at += 1;
    skip();
    for (let last = text[at] === ']'; !last;) {
      items.push(value(level + 1));
      last = isLast(']');
    }
    at += 1;
    return { start, end: at, value: [], items };
  }

  const root = value(0);
  skip();
  if (at < text.length) fail('something follows the end');
  return root;
}

/** Skips white space and comments; undefined if a comment is not closed. */
function skipBlank(text: string, from: number): number | undefined {
  const blank = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
  blank.lastIndex = from;
  blank.exec(text);
  return text.startsWith('/*', blank.lastIndex) ? undefined : blank.lastIndex;
}
