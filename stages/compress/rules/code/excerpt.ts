/**
 * Excerpts of files: a text that begins inside a string or a here-document may still parse, with
 * content mistaken for comments. Unless the text itself shows that it begins outside, it is left
 * alone.
 */

/** Languages in which almost any text parses, and where here-documents are common. */
const LENIENT: ReadonlySet<string> = new Set(['sh', 'bash', 'zsh', 'rb', 'ps1']);
const LENIENT_START =
  /^(?:#!|# frozen_string_literal|#Requires|require(?:_relative)? ['"]|module [A-Z]|class [A-Z]|param\b|\[CmdletBinding|using \w)/;

/** The beginning of a file, or of a declaration in the first column. */
const FILE_START =
  /^(?:import|from|package|export|const|let|var|function|class|def|async|func|type|use|pub|fn|mod|impl|struct|enum|trait|interface|namespace|using|public|private|protected|internal|abstract|final|static|module|require|declare|extern|typedef|template|inline)\b|^(?:@[\w.]+|#\w|#!|["']use strict|"""|<\?php|[.#]?[\w-]+ \{$)/;
const COMMENT = /^\s*(?:#(?!\s*(?:include|define|if|ifdef|ifndef|pragma)\b)|\/\/|\/\*|\*|$)/;
/** Delimiters of multi-line strings. */
const LONG_STRING = /"""|'''|`|@"|\bR"|\br#{0,3}"|<<[-~]?\w|<<<|%[qQwW]?[({[]/;

/** Returns true for source code that could begin inside a string. */
export function mayBeginInside(lines: readonly string[], extension: string): boolean {
  const first = lines.find((line) => line.trim() !== '') ?? '';
  if (LENIENT.has(extension)) return !LENIENT_START.test(first);
  if (first.startsWith('#!')) return false;
  const code = lines.find((line) => !COMMENT.test(line)) ?? '';
  return !FILE_START.test(code) && lines.some((line) => LONG_STRING.test(line.slice(0, 2000)));
}

/**
 * Finds the lines of a shell script that are inside here-documents, without a parser; undefined if
 * one does not end. Empty for other languages.
 */
export function hereDocuments(
  lines: readonly string[],
  extension: string,
): ReadonlySet<number> | undefined {
  const inside = new Set<number>();
  if (!['sh', 'bash', 'zsh'].includes(extension)) return inside;
  const open: string[] = [];
  for (const [at, line] of lines.entries()) {
    if (open.length > 0) {
      inside.add(at);
      if (line.trim() === open[0]) open.shift();
      continue;
    }
    for (const [, , word] of line.matchAll(/(?<!<)<<-?\s*\\?(["']?)([A-Za-z_][\w-]*)\1/g))
      open.push(word!);
  }
  return open.length === 0 ? inside : undefined;
}
