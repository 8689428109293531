/** A YAML reader with a real parser: a text that it rejects does not count as YAML. */
import { createRequire } from 'node:module';
import { beginsInside, type ConfigReading } from './reading.ts';
import { lineBreaks } from '../../text/line-breaks.ts';

type Yaml = typeof import('yaml');

/** Its seventy modules take as long to load as all rules, so it is loaded with the first text that looks like YAML. */
const library = (): Yaml => createRequire(import.meta.url)('yaml') as Yaml;

/** Parsing takes about 1 ms for 10 KB; larger files are left alone. */
const MAX_CHARS = 300_000;
/** The parser rejects values with more aliases than this. */
const MAX_ALIASES = 100;

/**
 * Reads YAML with any number of documents. Only comparing the values shows which blank lines are
 * content.
 */
export function readYaml(text: string): ConfigReading | undefined {
  if (text.length > MAX_CHARS || !looksLikeYaml(text) || beginsInside(text)) return undefined;
  try {
    const { parseAllDocuments } = library();
    const documents = parseAllDocuments(text, { uniqueKeys: false, logLevel: 'silent' });
    if (!Array.isArray(documents) || documents.some((document) => document.errors.length > 0))
      return undefined;
    const values = documents.map(
      (document) => document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown,
    );
    return { values, comments: commentLines(text), blanks: blankLines(text) };
  } catch {
    // An alias without its anchor, too many aliases, too deep nesting: anything the parser rejects.
    return undefined;
  }
}

function looksLikeYaml(text: string): boolean {
  return (
    !/^[ \t]*\[[^\]]{1,100}\][ \t]*$/m.test(text) &&
    /^[ \t]*(?:- )?["']?[\w./ -]{1,80}["']?:(?: |\r?$)/m.test(text)
  );
}

function blankLines(text: string): ReadonlySet<number> {
  return new Set(text.split('\n').flatMap((line, at) => (line.trim() === '' ? [at] : [])));
}

// The lexer signals document starts, flow errors and scalars by control characters that are not
// text.
const SCALAR_SIGNAL = '\u001f';
const LEXER_SIGNALS: ReadonlySet<string> = new Set(['\u0002', '\u0018', SCALAR_SIGNAL]);

/** Returns the lines whose only token is a comment; a `#` inside a block scalar is content. */
function commentLines(text: string): ReadonlySet<number> {
  const comments = new Set<number>();
  let line = 0;
  let blankSoFar = true;
  let scalar = false;
  const { Lexer } = library();
  for (const token of new Lexer().lex(text)) {
    if (LEXER_SIGNALS.has(token)) {
      scalar = token === SCALAR_SIGNAL;
      continue;
    }
    if (!scalar && token.startsWith('#') && blankSoFar) comments.add(line);
    const breaks = lineBreaks(token);
    line += breaks;
    blankSoFar = breaks > 0 ? token.endsWith('\n') : blankSoFar && token.trim() === '';
    scalar = false;
  }
  return comments;
}
