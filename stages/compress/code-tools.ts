/**
 * Positions of comments and of blank lines between the parts of the code by a real parser (tree-sitter). Loading is asynchronous and takes some
 * 100 ms a language, so it belongs in a worker; what it returns works synchronously.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, dirname } from 'node:path';
import { Language, Parser, type Node } from 'web-tree-sitter';
import type { CommentLines, LineRange } from './compressor.ts';

const GRAMMARS: readonly (readonly [string, string])[] = [
  ['python', 'py pyi gyp gypi'],
  ['javascript', 'js jsx mjs cjs'],
  ['typescript', 'ts mts cts'],
  ['tsx', 'tsx'],
  ['go', 'go'],
  ['rust', 'rs'],
  ['java', 'java'],
  ['c-sharp', 'cs'],
  ['cpp', 'c cc cpp cxx h hh hpp'],
  ['ruby', 'rb'],
  ['php', 'php'],
  ['bash', 'sh bash'],
  ['css', 'css'],
  ['powershell', 'ps1'],
];

/** The grammar for a file extension, undefined where there is none. */
export function grammarFor(extension: string): string | undefined {
  return GRAMMARS.find(([, extensions]) => extensions.split(' ').includes(extension))?.[0];
}

/** Every file extension that a grammar is there for. */
export const CODE_EXTENSIONS: readonly string[] = GRAMMARS.flatMap(([, names]) => names.split(' '));

/** Parsers for the languages of `extensions`, ready to use; call it again for others. Text over `maxChars` is left alone. Runs of blank lines are returned from their second line on. */
export async function loadCodeTools(
  extensions: readonly string[],
  maxChars = 400_000,
): Promise<CommentLines> {
  const require = createRequire(import.meta.url);
  const folder = join(dirname(require.resolve('@vscode/tree-sitter-wasm/package.json')), 'wasm');
  await Parser.init();
  const names = new Set(extensions.map(grammarFor).filter((name) => name !== undefined));
  const parsers = new Map<string, Parser>();
  for (const name of names) {
    const language = await Language.load(await readFile(join(folder, `tree-sitter-${name}.wasm`)));
    parsers.set(name, new Parser().setLanguage(language));
  }
  return (text, extension) => {
    const parser = parsers.get(grammarFor(extension) ?? '');
    return parser === undefined || text.length > maxChars ? undefined : findComments(parser, text);
  };
}

function findComments(parser: Parser, text: string): readonly LineRange[] | undefined {
  const tree = parser.parse(text);
  if (tree === null) return undefined;
  try {
    // Inside a text that does not parse, a string may be taken for a comment.
    if (tree.rootNode.hasError) return undefined;
    const lines = text.split('\n');
    const comments = commentNodes(tree.rootNode).flatMap((node) => wholeLines(node, lines));
    return [...comments, ...spareBlanks(tree.rootNode, lines, comments)];
  } finally {
    tree.delete();
  }
}

function commentNodes(root: Node): readonly Node[] {
  return root
    .descendantsOfType(['comment', 'line_comment', 'block_comment'])
    .filter((node) => node !== null);
}

/** The lines of a comment, if nothing else stands on its first and last line. */
function wholeLines(node: Node, lines: readonly string[]): readonly LineRange[] {
  const { startPosition: start, endPosition: end } = node;
  const last = end.column === 0 ? end.row - 1 : end.row;
  const before = lines[start.row]!.slice(0, start.column);
  const after = end.column === 0 ? '' : (lines[end.row] ?? '').slice(end.column);
  if (before.trim() !== '' || after.trim() !== '' || isContinued(lines, start.row)) return [];
  return [{ from: start.row, to: last + 1 }];
}

/** A line that ends in a backslash takes the next one in: to a macro, a command, a string. */
function isContinued(lines: readonly string[], row: number): boolean {
  return /\\\r?$/.test(lines[row - 1]?.slice(-2) ?? '');
}

/** Kinds of nodes whose blank lines are content, or may be. */
const CONTENT =
  /string|template_literal|heredoc|here_|nowdoc|^text|comment|quoted|regex|uninterpreted|raw_/;

/** Blank lines behind a blank line, a comment or the beginning that stand between nodes and in none. */
function spareBlanks(
  root: Node,
  lines: readonly string[],
  comments: readonly LineRange[],
): readonly LineRange[] {
  const ends = new Set(comments.map(({ to }) => to));
  return lines.flatMap((line, row) => {
    if (line.trim() !== '' || (row > 0 && !ends.has(row) && lines[row - 1]!.trim() !== ''))
      return [];
    return isContinued(lines, row) || isContent(root, row) ? [] : [{ from: row, to: row + 1 }];
  });
}

function isContent(root: Node, row: number): boolean {
  let node = root.descendantForPosition({ row, column: 0 });
  // A node without parts that reaches over the line is a token, whatever its name.
  if (node !== null && node.childCount === 0 && node.parent !== null) {
    if (node.startPosition.row < row || node.endPosition.row > row) return true;
  }
  for (; node !== null; node = node.parent) if (CONTENT.test(node.type)) return true;
  return false;
}
