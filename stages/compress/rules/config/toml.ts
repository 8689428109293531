/** A TOML reader that covers enough to tell strings and comments apart. */
import { beginsInside, configLines, readingOf, type ConfigReading } from './reading.ts';

const KEY = String.raw`(?:[\w-]+|"(?:[^"\\]|\\.){0,200}"|'[^']{0,200}')`;
const ENTRY = new RegExp(String.raw`^\s*${KEY}(?:\s{0,9}\.\s{0,9}${KEY}){0,20}\s{0,99}=\s*(?=\S)`);
const SECTION = /^\s*\[.{1,400}\]\s*(?:#.*)?$/;
/** Start of a value: a string, a list, a table, a number, a date, or a keyword. */
const VALUE =
  /^(?:["'[{]|[+-]?\d[\w+\-.:]*(?: \d[\d:.]*Z?)?\s*(?:#|$)|[+-]?(?:inf|nan|true|false)\s*(?:#|$))/;

interface OpenValue {
  /** Quotes of the open multi-line string. */
  quotes: string | undefined;
  /** Number of open brackets and braces. */
  depth: number;
}

/** Reads TOML. */
export function readToml(text: string): ConfigReading | undefined {
  if (beginsInside(text)) return undefined;
  const lines = configLines(text);
  const comments = new Set<number>();
  const blanks = new Set<number>();
  const inside: OpenValue = { quotes: undefined, depth: 0 };
  for (const [at, line] of lines.entries()) {
    let from = 0;
    if (inside.quotes === undefined) {
      const start = line.trim()[0];
      if (start === undefined) blanks.add(at);
      else if (start === '#') comments.add(at);
      if (start === undefined || start === '#') continue;
      if (inside.depth === 0) {
        if (SECTION.test(line) && !ENTRY.test(line)) continue;
        const entry = ENTRY.exec(line);
        if (entry === null || !VALUE.test(line.slice(entry[0].length))) return undefined;
        from = entry[0].length;
      }
    }
    if (!scanValues(line, from, inside)) return undefined;
  }
  if (inside.quotes !== undefined || inside.depth !== 0) return undefined;
  return readingOf(lines, comments, blanks);
}

/** Scans the values of a line; false if a single-line string is not closed on it. */
function scanValues(line: string, from: number, inside: OpenValue): boolean {
  for (let at = from; at < line.length;) {
    const sign = line[at]!;
    if (inside.quotes !== undefined) {
      const end = closingQuotes(line, at, inside.quotes);
      if (end < 0) return true;
      // Up to two more quotes may precede the closing three.
      at = end + 3;
      for (let more = 0; more < 2 && line[at] === inside.quotes[0]; more++) at++;
      inside.quotes = undefined;
    } else if (sign === '#') return true;
    else if (sign === '"' || sign === "'") {
      if (line.startsWith(sign.repeat(3), at)) {
        inside.quotes = sign.repeat(3);
        at += 3;
      } else {
        const end = closingQuotes(line, at + 1, sign);
        if (end < 0) return false;
        at = end + 1;
      }
    } else {
      if ('[{'.includes(sign)) inside.depth++;
      if (']}'.includes(sign) && --inside.depth < 0) return false;
      at++;
    }
  }
  return true;
}

/** Returns the offset of the closing quotes; a backslash escapes a double quote. */
function closingQuotes(line: string, from: number, quotes: string): number {
  for (let at = from; at < line.length; at++) {
    if (quotes[0] === '"' && line[at] === '\\') at++;
    else if (line.startsWith(quotes, at)) return at;
  }
  return -1;
}
