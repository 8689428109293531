/**
 * The lines in which compilers, type checkers and linters report an error in a file. Each is a
 * separate failure, however many there are, and all of them are needed to fix the file.
 */
import { anyOf } from '../../../model/classify/any-of.ts';

/** Longest part of a line that is inspected, in characters. */
const MAX_LINE_CHARS = 300;

const ERROR_LINES: readonly RegExp[] = [
  // gcc, clang, GHC, Zig, mypy, javac, swiftc and tools with the same wording; Go's compiler and
  // vet; linkers
  /^\s{0,4}\S.{0,200}?:\d+(?::\d+)?: (?:fatal )?error\b/,
  /^(?:vet: )?\S{1,200}\.go:\d+:\d+: \S/,
  /\bundefined reference to\b|\bundefined symbol\b|^ld(?:\.\w+)?: |: multiple definition of /,
  // TypeScript, C#, MSVC, Pascal, Pyright
  /\(\d+(?:,\d+){0,3}\) ?: (?:fatal )?error\b|:\d+:\d+ - error(?: TS\d|:)/,
  // Rust, Kotlin, Scala, Maven, PHP, Elixir, Dart, OCaml, CMake, Python
  /^error(?:\[E\d+\])?: (?!aborting|could not compile)\S/,
  /^e: \S|^\[error\] \S{1,200}:\d+|^\[ERROR\] \S{1,200}:\[\d+,\d+\]/,
  /^PHP (?:Parse|Fatal) error|^\*\* \((?:Compile|Syntax|Token)\w*Error\)|^\s{0,4}error •/,
  /^Error: \S|^CMake Error at \S|^\s{0,8}(?:SyntaxError|IndentationError|TabError): /,
  // ESLint, stylelint, yamllint; flake8, Ruff, Pylint
  /^\s{1,8}\d+:\d+ +(?:error|✖) /,
  /^\S{1,200}:\d+:\d+: [EFC]\d{2,5}:? /,
  // Formatters that only check: Prettier, Black, Ruff
  /^\[(?:warn|error)\] \S{1,300}\.\w{1,10}$|^would reformat:? \S/i,
];
const isErrorLine = anyOf(ERROR_LINES);
/** Lines after the error with its position or subject. */
const DETAIL =
  /^ {1,8}--> \S|^\s{0,4}at \S{1,200}:\d+|^\s{2,8}(?:symbol|required|found|reason|location): |^\S{1,200}\.pyi?:\d+(?::\d+)?: note: /;
/** Errors whose message continues on deeper-indented lines, and such a line. */
const INDENTED_ERROR = /error TS\d|:\d+:\d+ - error: /;
const INDENTED_DETAIL = /^\s{2,24}["'\p{L}]/u;
const MAX_DETAIL_LINES = 5;
/** A line before the error with its position. */
const POSITION_LINE = /^File "[^"]{1,200}", lines? \d/;
/**
 * Every such line contains one of these words, or a position with a column; most lines contain
 * neither.
 */
const ERROR_HINT =
  /error|undefined|multiple|^\[warn|reformat|^ld|\.go:\d|^e: |✖|:\d+:\d+: [EFC]\d/i;

/**
 * Returns the indexes of such lines and of their position lines, each text only at its first
 * occurrence.
 */
export function compilerErrors(lines: readonly string[]): readonly number[] {
  const found: number[] = [];
  const seen = new Set<string>();
  for (const [at, whole] of lines.entries()) {
    const line = whole.slice(0, MAX_LINE_CHARS);
    if (!ERROR_HINT.test(line) || !isErrorLine.test(line)) continue;
    const details = detailsBelow(lines, at);
    const before = POSITION_LINE.test(lines[at - 1]?.slice(0, MAX_LINE_CHARS) ?? '')
      ? [at - 1]
      : [];
    const rows = [...before, at, ...details];
    const all = rows.map((row) => lines[row]).join('\n');
    if (seen.has(all)) continue;
    seen.add(all);
    found.push(...rows);
  }
  return found;
}

function detailsBelow(lines: readonly string[], at: number): readonly number[] {
  const details: number[] = [];
  let inSteps = INDENTED_ERROR.test(lines[at]!.slice(0, MAX_LINE_CHARS));
  for (let row = at + 1; row < lines.length && row <= at + MAX_DETAIL_LINES; row++) {
    const line = lines[row]!.slice(0, MAX_LINE_CHARS);
    if (ERROR_HINT.test(line) && isErrorLine.test(line)) break;
    inSteps &&= INDENTED_DETAIL.test(line);
    if (inSteps || DETAIL.test(line)) details.push(row);
  }
  return details;
}
