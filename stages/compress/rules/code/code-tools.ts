/**
 * Positions of comments and of blank lines between the parts of the code by a real parser
 * (tree-sitter). To load a grammar is asynchronous and takes 20 ms or more of a processor, so
 * it belongs in a worker; what is loaded works synchronously.
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

/** The grammar for a file extension, undefined where there is none. */
export function grammarFor(extension: string): string | undefined {
  return GRAMMARS.get(extension);
}

/** Every file extension that a grammar is there for. */
export const CODE_EXTENSIONS: readonly string[] = [...GRAMMARS.keys()];

/** Longer text is left alone. */
const MAX_CHARS = 400_000;

export type CodeTools = ReturnType<typeof createCodeTools>;

/** Tools that know no language yet. Runs of blank lines are returned from their second line on. */
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
    /** Loads what every grammar needs. Never rejects. */
    prepare: () => loader.prepare(),
    /** Loads a grammar. Where it cannot be loaded, texts in its language cannot be decided. */
    async load(name: string): Promise<void> {
      try {
        grammars.set(name, toTools(await loader.load(name)));
      } catch (thrown) {
        failed.set(name, thrown instanceof Error ? thrown.message : String(thrown));
      }
    },
    /** Lets grammars that could not be loaded be tried again: once a job, not with each of its texts. */
    forgetFailures(): void {
      failed.clear();
      loader.forgetFailures();
    },
    /** Throws `GrammarNeeded` for a language whose grammar is not loaded. */
    commentLines,
    /** Throws it too. */
    definitions,
  };
}

function toTools({ language, parser }: Grammar): CodeGrammar {
  const kinds = language.types.filter((kind) => CONTENT.test(kind) && !PART.test(kind));
  return { parser, strings: [...new Set(kinds)] };
}

/** Kinds of nodes in which lines are content: strings, here-documents, text between tags or languages. */
const CONTENT = /string|template_literal|heredoc|here_|nowdoc|^text$|jsx_text|regex|uninterpreted/;
/** Kinds that only stand inside such nodes. */
const PART = /content|fragment|start|end|characters|delimiter|encoding|pattern|flags/;

interface CodeGrammar {
  readonly parser: Parser;
  /** The kinds of nodes that hold content. */
  readonly strings: readonly string[];
}

function findComments(
  { parser, strings }: CodeGrammar,
  text: string,
): readonly LineRange[] | undefined {
  const tree = parser.parse(text);
  if (tree === null) return undefined;
  try {
    // Inside a text that does not parse, a string may be taken for a comment.
    if (tree.rootNode.hasError) return undefined;
    const lines = text.split('\n');
    const content = rowsInside(tree.rootNode.descendantsOfType([...strings]));
    const nodes = tree.rootNode.descendantsOfType(COMMENTS);
    // Some grammars find comments in here-documents.
    const comments = nodes
      .flatMap((node) => wholeLines(node, lines))
      .filter(({ from }) => !content.has(from));
    for (const row of rowsInside(nodes)) content.add(row);
    return [...comments, ...spareBlanks(tree.rootNode, lines, { comments, content })];
  } finally {
    tree.delete();
  }
}

const COMMENTS = ['comment', 'line_comment', 'block_comment'];

/** The rows of nodes behind their first. */
function rowsInside(nodes: readonly Node[]): Set<number> {
  const rows = new Set<number>();
  for (const { startPosition: start, endPosition: end } of nodes)
    for (let row = start.row + 1; row <= end.row; row++)
      if (row < end.row || end.column > 0) rows.add(row);
  return rows;
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

interface Found {
  readonly comments: readonly LineRange[];
  /** Rows that lie inside strings and the like. */
  readonly content: ReadonlySet<number>;
}

/** Blank lines behind a blank line, a comment or the beginning that are no part of a token. */
function spareBlanks(
  root: Node,
  lines: readonly string[],
  { comments, content }: Found,
): readonly LineRange[] {
  const ends = new Set(comments.map(({ to }) => to));
  return lines.flatMap((line, row) => {
    if (line.trim() !== '' || (row > 0 && !ends.has(row) && lines[row - 1]!.trim() !== ''))
      return [];
    if (content.has(row) || isContinued(lines, row) || isInToken(root, row)) return [];
    return [{ from: row, to: row + 1 }];
  });
}

/** Whether a node without parts reaches over the start of a row, whatever its kind. */
function isInToken(root: Node, row: number): boolean {
  const node = root.descendantForPosition({ row, column: 0 });
  if (node === null || node.childCount > 0 || node.equals(root)) return false;
  return node.startPosition.row < row || node.endPosition.row > row;
}
