/**
 * Configuration files: comment lines and runs of blank lines go, every key and value stays
 * as it was written. YAML is parsed before and after, and must be equal; other formats are
 * read line by line with an eye on multi-line strings.
 */
import { isDeepStrictEqual } from 'node:util';
import { Lexer, parseAllDocuments } from 'yaml';
import type { Compressed, Compressor } from './compressor.ts';
import { MARK } from './marker.ts';

/** Parsing takes about 1 ms for 10 KB; larger files are left alone. */
const MAX_YAML_CHARS = 300_000;
const DIRECTIVE = /^\s*#\s*(?:syntax|escape|check|yaml-language-server|cloud-config)\b|^#!/;

/** Strips comment lines of YAML, TOML, INI, .env, properties and Dockerfiles. */
export const stripConfig: Compressor = {
  name: 'config',
  classes: ['config'],
  apply(text): Compressed | undefined {
    const lines = text.split('\n');
    const values = looksLikeYaml(text) ? readYaml(text) : undefined;
    const comments = values === undefined ? plainComments(lines) : yamlComments(text);
    if (comments === undefined) return undefined;
    const keep = lines.map((line, at) => !comments.has(at) || DIRECTIVE.test(line));
    dropBlankRuns(lines, keep);
    const kept = lines.filter((_, at) => keep[at]);
    if (lines.length - kept.length < 2) return undefined;
    if (values !== undefined && !isDeepStrictEqual(readYaml(kept.join('\n')), values))
      return undefined;
    const note = `# ${MARK}omitted ${lines.length - kept.length} of ${lines.length} lines, comments and blank lines only; the source is complete]`;
    const removed = lines.flatMap((_, at) => (keep[at] === true ? [] : [{ from: at, to: at + 1 }]));
    return { text: [note, ...kept].join('\n'), removed };
  },
};

function looksLikeYaml(text: string): boolean {
  return (
    text.length <= MAX_YAML_CHARS &&
    !/^\s*\[[^\]]{1,100}\]\s*$/m.test(text) &&
    /^\s*(?:- )?["']?[\w./ -]{1,80}["']?:(?: |$)/m.test(text)
  );
}

function readYaml(text: string): unknown {
  const documents = parseAllDocuments(text, { uniqueKeys: false, logLevel: 'silent' });
  if (!Array.isArray(documents) || documents.some((document) => document.errors.length > 0))
    return undefined;
  return documents.map((document) => document.toJS({ maxAliasCount: 100 }) as unknown);
}

// The lexer announces document starts, flow errors and scalars by control characters that are no text.
const SCALAR_SIGNAL = '\u001f';
const LEXER_SIGNALS: ReadonlySet<string> = new Set(['\u0002', '\u0018', SCALAR_SIGNAL]);

/** Lines whose only token is a comment; a `#` inside a block scalar is content. */
function yamlComments(text: string): ReadonlySet<number> {
  const comments = new Set<number>();
  let line = 0;
  let blankSoFar = true;
  let scalar = false;
  for (const token of new Lexer().lex(text)) {
    if (LEXER_SIGNALS.has(token)) {
      scalar = token === SCALAR_SIGNAL;
      continue;
    }
    if (!scalar && token.startsWith('#') && blankSoFar) comments.add(line);
    const breaks = token.split('\n').length - 1;
    line += breaks;
    blankSoFar = breaks > 0 ? token.endsWith('\n') : blankSoFar && token.trim() === '';
    scalar = false;
  }
  return comments;
}

/** Comment lines outside multi-line strings and here-documents; undefined where a string is left open. */
function plainComments(lines: readonly string[]): ReadonlySet<number> | undefined {
  const comments = new Set<number>();
  let open: string | undefined;
  for (const [at, line] of lines.entries()) {
    if (open === undefined && /^\s*[#;]/.test(line)) {
      comments.add(at);
      continue;
    }
    if (/<<-?["']?\w/.test(line)) return undefined;
    for (const [quote] of line.matchAll(/"""|'''/g)) {
      if (open === undefined) open = quote;
      else if (open === quote) open = undefined;
    }
  }
  return open === undefined ? comments : undefined;
}

function dropBlankRuns(lines: readonly string[], keep: boolean[]): void {
  let blank = true;
  let quoted = false;
  for (const [at, line] of lines.entries()) {
    if (keep[at] !== true) continue;
    const empty = line.trim() === '';
    // Inside a multi-line string blank lines are content.
    if (empty && blank && !quoted) keep[at] = false;
    if (/"""|'''/.test(line)) quoted = (line.match(/"""|'''/g)!.length % 2 === 1) !== quoted;
    blank = empty;
  }
}
