/**
 * Source code as a parser sees it: tokens without comments, and declarations. Two texts with the
 * same tokens have the same identifiers, signatures, strings and syntax.
 */
import type { Node, Parser } from 'web-tree-sitter';
import { CODE_EXTENSIONS, grammarFor } from '../../stages/compress/rules/code/code-tools.ts';
import { markerIn } from '../../stages/compress/text/marker.ts';
import { lineNumbering } from '../../stages/model/classify/envelope.ts';
import { createGrammarLoader } from '../../stages/grammars.ts';

/** What a parser finds in a text. */
export interface CodeReading {
  /** False if a part of the text is not valid in the language. */
  readonly parses: boolean;
  /** Everything but comments and white space, in order. */
  readonly tokens: readonly string[];
  /** Functions, methods, classes, types and the like that the text declares. */
  readonly declarations: number;
}

/** Parses source by file extension; undefined if the language is unknown. */
export type CodeReader = (text: string, extension: string) => CodeReading | undefined;

/** Returns a reader with all available grammars loaded. */
export async function loadCodeReader(): Promise<CodeReader> {
  const grammars = createGrammarLoader();
  const parsers = new Map<string, Parser>();
  for (const name of new Set(CODE_EXTENSIONS.map(grammarFor)))
    if (name !== undefined) parsers.set(name, (await grammars.load(name)).parser);
  return (text, extension) => {
    const tree = parsers.get(grammarFor(extension) ?? '')?.parse(text);
    if (tree === undefined || tree === null) return undefined;
    try {
      return read(tree.rootNode);
    } finally {
      tree.delete();
    }
  };
}

const DECLARATION =
  /(?:function|method|class|interface|struct|enum|trait|impl|module|type_alias|constructor|record|namespace)_?(?:declaration|definition|item|specifier|statement|signature)?$|^(?:method|class|module|singleton_method)$/;

function read(root: Node): CodeReading {
  const tokens: string[] = [];
  let declarations = 0;
  const cursor = root.walk();
  for (let isDone = false; !isDone;) {
    const { nodeType } = cursor;
    const isComment = nodeType.includes('comment');
    if (cursor.nodeIsNamed && nodeType !== root.type && DECLARATION.test(nodeType))
      declarations += 1;
    if (!isComment && cursor.gotoFirstChild()) continue;
    if (!isComment && cursor.nodeText.trim() !== '') tokens.push(cursor.nodeText);
    while (!cursor.gotoNextSibling()) {
      isDone = !cursor.gotoParent();
      if (isDone) break;
    }
  }
  cursor.delete();
  return { parses: !root.hasError, tokens, declarations };
}

/** Differences between the code of two texts; empty if there are none. */
export interface CodeVerdict {
  readonly faults: readonly string[];
  readonly declarations: number;
}

/** Compares the code of a text with its compressed form, ignoring line numbers and our notes. */
export function compareCode(
  readCode: CodeReader,
  before: string,
  after: string,
  extension: string,
): CodeVerdict {
  const isNumbered = lineNumbering(before.split('\n')) !== undefined;
  const originalCode = readCode(bareCode(before, isNumbered), extension);
  const compressedCode = readCode(bareCode(after, isNumbered), extension);
  if (originalCode === undefined || compressedCode === undefined)
    return { faults: [`no parser for .${extension}`], declarations: 0 };
  const faults: string[] = [];
  if (originalCode.parses && !compressedCode.parses)
    faults.push('what is left of the code does not parse');
  if (originalCode.declarations !== compressedCode.declarations)
    faults.push('a declaration is gone');
  const at = originalCode.tokens.findIndex((token, n) => token !== compressedCode.tokens[n]);
  if (at >= 0 || originalCode.tokens.length !== compressedCode.tokens.length)
    faults.push(`code differs at ${JSON.stringify((originalCode.tokens[at] ?? '').slice(0, 60))}`);
  return { faults, declarations: originalCode.declarations };
}

const LINE_NUMBER = /^ *\d+(?:\t|→|: |\| ?)/;

function bareCode(text: string, isNumbered: boolean): string {
  const lines = text.split('\n').filter((line) => markerIn(line) !== 'comment');
  return (isNumbered ? lines.map((line) => line.replace(LINE_NUMBER, '')) : lines).join('\n');
}
