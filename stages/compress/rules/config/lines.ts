/** Readers of line-based formats: INI, properties, `.env`, Dockerfiles, ignore lists. */
import {
  beginsInside,
  configLines,
  readingOf,
  type ConfigReader,
  type ConfigReading,
} from './reading.ts';

interface LineFormat {
  /** Comment lines, unless a value continues there. */
  readonly comment: RegExp;
  /** Form of every other line, unless a value continues there. */
  readonly entry: RegExp;
  /** At least one line must match. */
  readonly required?: RegExp;
  /** A matching line means that the text has another format. */
  readonly forbidden?: RegExp;
  /** Indented lines continue the value above, including blank lines between them. */
  readonly indented?: true;
  /**
   * A quote at the start of a value: spans lines (`reach`), must close on its line (`refused`), or
   * has no meaning (`plain`).
   */
  readonly quotes: 'reach' | 'refused' | 'plain';
}

const HEREDOC = /<<[-~]?\s*["']?[A-Za-z_]/;
const INI_ENTRY = /^\[[^\]]+\]\s*(?:[#;].*)?$|^[^\s=:[{<"'][^=:{]*[=:]/;

/**
 * INI, systemd units, `.editorconfig`, `.npmrc`. Comments are recognized only at the start of a
 * line.
 */
export const readIni = lineReader({
  comment: /^[#;]/,
  entry: INI_ENTRY,
  forbidden: HEREDOC,
  indented: true,
  quotes: 'refused',
});

/** INI recognized by form alone: requires a section, and entries with an equals sign. */
export const readSections = lineReader({
  comment: /^[#;]/,
  entry: /^\[[^\]]+\]\s*(?:[#;].*)?$|^[^\s=:[{<"'][^=:{]*=/,
  required: /^\[[^\]]+\]/,
  forbidden: HEREDOC,
  indented: true,
  quotes: 'refused',
});

/**
 * Java properties: `;` begins a key, and a line ending in a backslash continues whatever follows.
 */
export const readProperties = lineReader({
  comment: /^\s*[#!]/,
  entry: /\S/,
  quotes: 'plain',
});

/** `.env`: quoted values may span lines. */
export const readEnv = lineReader({
  comment: /^\s*#/,
  entry: /^\s*(?:export\s+)?[\w.-]+\s*=/,
  forbidden: HEREDOC,
  quotes: 'reach',
});

/**
 * Assignments in a file of unknown format: the common ground of `.env`, properties, shell and make.
 */
export const readAssignments = lineReader({
  comment: /^#/,
  entry: /^(?:export\s+)?[\w.-]+\s*[:+?]?=/,
  forbidden: HEREDOC,
  quotes: 'reach',
});

/** Dockerfiles without here-documents and with the usual escape character. */
export const readDockerfile = lineReader({
  comment: /^\s*#/,
  entry:
    /^\s*(?:FROM|RUN|CMD|LABEL|MAINTAINER|EXPOSE|ENV|ADD|COPY|ENTRYPOINT|VOLUME|USER|WORKDIR|ARG|ONBUILD|STOPSIGNAL|HEALTHCHECK|SHELL)\s/i,
  required: /^\s*FROM\s/i,
  forbidden: /<<[-~]?\s*["']?[A-Za-z_]|^\s*#\s*escape\s*=/i,
  quotes: 'plain',
});

/** Pattern lists such as `.gitignore`: only a `#` in the first column begins a comment. */
export const readPatterns = lineReader({ comment: /^#/, entry: /\S/, quotes: 'plain' });

function lineReader(format: LineFormat): ConfigReader {
  return (text) => (beginsInside(text) ? undefined : readLines(configLines(text), format));
}

function readLines(lines: readonly string[], format: LineFormat): ConfigReading | undefined {
  const comments = new Set<number>();
  const blanks = new Set<number>();
  let isContinued = false;
  let quote: string | undefined;
  for (const [at, line] of lines.entries()) {
    if (format.forbidden?.test(line) === true) return undefined;
    const blank = line.trim() === '';
    const comment = format.comment.test(line);
    if (quote !== undefined) {
      const end = endOfQuote(line, 0, quote);
      if (end >= 0 && hasOpenQuote(line.slice(end + 1))) return undefined;
      if (end >= 0) quote = undefined;
      continue;
    }
    if (isContinued || endsInBackslash(line)) {
      // Programs disagree whether a comment ends a continued value, so it is kept.
      isContinued = endsInBackslash(line) || (isContinued && comment);
      continue;
    }
    if (comment) comments.add(at);
    else if (blank) {
      if (format.indented !== true || !isNextIndented(lines, at)) blanks.add(at);
    } else if (format.indented === true && /^\s/.test(line)) {
      if (format.quotes === 'refused' && hasOpenQuote(line)) return undefined;
    } else {
      if (!format.entry.test(line)) return undefined;
      const found = format.quotes === 'plain' ? undefined : openQuote(line);
      if (found === 'odd' || (found !== undefined && format.quotes === 'refused')) return undefined;
      quote = found;
    }
  }
  if (quote !== undefined) return undefined;
  if (format.required !== undefined && !lines.some((line) => format.required!.test(line)))
    return undefined;
  return readingOf(lines, comments, blanks);
}

function endsInBackslash(line: string): boolean {
  let count = 0;
  while (line[line.length - 1 - count] === '\\') count++;
  return count % 2 === 1;
}

function isNextIndented(lines: readonly string[], at: number): boolean {
  let next = at + 1;
  while (lines[next]?.trim() === '') next++;
  return /^\s/.test(lines[next] ?? '');
}

/**
 * Returns the quote that an entry's value leaves open; 'odd' where quotes inside it do not pair.
 */
function openQuote(line: string): string | undefined {
  const value = line.slice(line.indexOf('=') + 1).trimStart();
  const quote = value[0];
  if (quote !== '"' && quote !== "'" && quote !== '`')
    return hasOpenQuote(value) ? 'odd' : undefined;
  const end = endOfQuote(value, 1, quote);
  if (end < 0) return quote;
  return hasOpenQuote(value.slice(end + 1)) ? 'odd' : undefined;
}

function hasOpenQuote(text: string): boolean {
  const bare = text.replace(/(?:^|\s)#.*$/s, '');
  return ['"', "'", '`'].some((quote) => bare.split(quote).length % 2 === 0);
}

function endOfQuote(text: string, from: number, quote: string): number {
  for (let at = from; at < text.length; at++) {
    if (quote === '"' && text[at] === '\\') at++;
    else if (text[at] === quote) return at;
  }
  return -1;
}
