/**
 * Finds comments, and blank lines between parts of the code, with a real parser (tree-sitter).
 * Loading a grammar is asynchronous and takes 20 ms or more of CPU time, so it belongs in a worker;
 * loaded grammars work synchronously.
 */
import type { Node, Parser } from 'web-tree-sitter';
import {
  createGrammarLoader,
  grammarsByExtension,
  type Grammar,
  type GrammarLoader,
} from '../../../grammars.ts';
import type { CommentLines, LineRange } from '../rule.ts';
import { findDefinitions, type Definitions } from './definitions.ts';
import { GrammarNeeded } from './grammar-needed.ts';

const GRAMMARS = grammarsByExtension({ python: 'gyp gypi' });

/** Returns the grammar name for a file extension; undefined if there is none. */
export function grammarFor(extension: string): string | undefined {
  return GRAMMARS.get(extension);
}

/** Every file extension with a grammar. */
export const CODE_EXTENSIONS: readonly string[] = [...GRAMMARS.keys()];

/** Longer texts are left alone. */
const MAX_CHARS = 400_000;

export type CodeTools = ReturnType<typeof createCodeTools>;

/**
 * Creates tools with no grammar loaded. Runs of blank lines are returned from their second line on.
 */
export function createCodeTools(loader: GrammarLoader = createGrammarLoader()) {
  const grammars = new Map<string, CodeGrammar>();
  const failed = new Map<string, string>();
  const grammarOf = (text: string, extension: string): CodeGrammar | undefined => {
    const name = grammarFor(extension);
    if (name === undefined || text.length > MAX_CHARS) return undefined;
    const grammar = grammars.get(name);
    if (grammar === undefined) throw new GrammarNeeded(name, failed.get(name));
    return grammar;
  };
  const commentLines: CommentLines = (text, extension) => {
    const grammar = grammarOf(text, extension);
    return grammar && findComments(grammar, text);
  };
  const definitions: Definitions = (text, extension) => {
    const grammar = grammarOf(text, extension);
    return grammar && findDefinitions(grammar.parser, text);
  };
  return {
    /** Loads the parts every grammar needs. Never rejects. */
    prepare: () => loader.prepare(),
    /** Loads a grammar. If it cannot be loaded, texts in its language cannot be decided. */
    async load(name: string): Promise<void> {
      try {
        grammars.set(name, toTools(await loader.load(name)));
      } catch (thrown) {
        failed.set(name, thrown instanceof Error ? thrown.message : String(thrown));
      }
    },
    /** Allows failed grammars to be tried again: once per job, not for each of its texts. */
    forgetFailures(): void {
      failed.clear();
      loader.forgetFailures();
    },
    /** Throws `GrammarNeeded` for a language whose grammar is not loaded. */
    commentLines,
    /** Also throws `GrammarNeeded`. */
    definitions,
  };
}

function toTools({ language, parser }: Grammar): CodeGrammar {
  const kinds = language.types.filter(
    (kind) => CONTENT_NODE.test(kind) && !CONTENT_PART.test(kind),
  );
  return { parser, strings: [...new Set(kinds)] };
}

/**
 * Node kinds whose lines are content: strings, here-documents, text between tags, embedded
 * languages.
 */
const CONTENT_NODE =
  /string|template_literal|heredoc|here_|nowdoc|^text$|jsx_text|regex|uninterpreted/;
/** Node kinds that only occur inside those. */
const CONTENT_PART = /content|fragment|start|end|characters|delimiter|encoding|pattern|flags/;

interface CodeGrammar {
  readonly parser: Parser;
  /** Node kinds that hold content. */
  readonly strings: readonly string[];
}

function findComments(
  { parser, strings }: CodeGrammar,
  text: string,
): readonly LineRange[] | undefined {
  const tree = parser.parse(text);
  if (tree === null) return undefined;
  try {
    // In a text that does not parse, a string may be mistaken for a comment.
    if (tree.rootNode.hasError) return undefined;
    const lines = text.split('\n');
    const content = rowsInside(tree.rootNode.descendantsOfType([...strings]));
    const nodes = tree.rootNode.descendantsOfType(COMMENT_NODES);
    // Some grammars report comments inside here-documents.
    const comments = nodes
      .flatMap((node) => wholeLines(node, lines))
      .filter(({ from }) => !content.has(from));
    for (const row of rowsInside(nodes)) content.add(row);
    return [...comments, ...spareBlankLines(tree.rootNode, lines, { comments, content })];
  } finally {
    tree.delete();
  }
}

const COMMENT_NODES = ['comment', 'line_comment', 'block_comment'];

/** Returns the rows of nodes after their first. */
function rowsInside(nodes: readonly Node[]): Set<number> {
  const rows = new Set<number>();
  for (const { startPosition: start, endPosition: end } of nodes)
    for (let row = start.row + 1; row <= end.row; row++)
      if (row < end.row || end.column > 0) rows.add(row);
  return rows;
}

/** Returns the lines of a comment, if nothing else is on its first and last line. */
function wholeLines(node: Node, lines: readonly string[]): readonly LineRange[] {
  const { startPosition: start, endPosition: end } = node;
  const last = end.column === 0 ? end.row - 1 : end.row;
  const before = lines[start.row]!.slice(0, start.column);
  const after = end.column === 0 ? '' : (lines[end.row] ?? '').slice(end.column);
  if (before.trim() !== '' || after.trim() !== '' || isContinued(lines, start.row)) return [];
  return [{ from: start.row, to: last + 1 }];
}

/**
 * Returns true if the line before ends in a backslash and so continues a macro, a command or a
 * string.
 */
function isContinued(lines: readonly string[], row: number): boolean {
  return /\\\r?$/.test(lines[row - 1]?.slice(-2) ?? '');
}

interface CommentsFound {
  readonly comments: readonly LineRange[];
  /** Rows inside strings and the like. */
  readonly content: ReadonlySet<number>;
}

/**
 * Finds blank lines after a blank line, a comment or the beginning that are not part of a token.
 */
function spareBlankLines(
  root: Node,
  lines: readonly string[],
  { comments, content }: CommentsFound,
): readonly LineRange[] {
  const ends = new Set(comments.map(({ to }) => to));
  return lines.flatMap((line, row) => {
    if (line.trim() !== '' || (row > 0 && !ends.has(row) && lines[row - 1]!.trim() !== ''))
      return [];
    if (content.has(row) || isContinued(lines, row) || isInToken(root, row)) return [];
    return [{ from: row, to: row + 1 }];
  });
}

/** Returns whether a leaf node of any kind spans the start of a row. */
function isInToken(root: Node, row: number): boolean {
  const node = root.descendantForPosition({ row, column: 0 });
  if (node === null || node.childCount > 0 || node.equals(root)) return false;
  return node.startPosition.row < row || node.endPosition.row > row;
}
