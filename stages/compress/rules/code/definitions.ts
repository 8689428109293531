/** Where source code defines something, as the parser sees it: what an outline of a file is made of. */
import type { Node, Parser } from 'web-tree-sitter';

/** A function, class, type or the like. Rows are zero-based, ranges half open. */
export interface Definition {
  readonly name: string;
  /** Where it begins, its decorators included. */
  readonly from: number;
  /** The first row behind its signature. */
  readonly signatureEnd: number;
  readonly to: number;
  /** How many others it lies in. */
  readonly depth: number;
}

/**
 * The definitions of `text`, in order; also of a text with errors in it, as far as they are found.
 * Undefined where the language is unknown or the text too long. May throw `GrammarNeeded`.
 */
export type Definitions = (text: string, extension: string) => readonly Definition[] | undefined;

/** In one grammar or another. */
const KINDS = (
  'function_definition function_declaration function_item function_signature function_signature_item function_statement ' +
  'generator_function_declaration method method_definition method_declaration method_signature singleton_method ' +
  'abstract_method_signature constructor_declaration compact_constructor_declaration destructor_declaration ' +
  'operator_declaration delegate_declaration class class_definition class_declaration class_specifier class_statement ' +
  'class_method_definition abstract_class_declaration interface_declaration annotation_type_declaration ' +
  'struct_declaration struct_item struct_specifier union_item union_specifier enum_declaration enum_item enum_specifier ' +
  'enum_statement record_declaration trait_item trait_declaration impl_item mod_item module internal_module ' +
  'namespace_definition namespace_declaration type_alias_declaration type_item type_declaration type_definition ' +
  'macro_definition concept_definition rule_set variable_declarator'
).split(' ');
/** What makes a variable a definition. */
const FUNCTIONS = /^(?:arrow_function|function_expression|generator_function|class)$/;
/** What wraps a definition and begins before it. */
const WRAPPERS: readonly string[] = [
  'decorated_definition',
  'export_statement',
  'ambient_declaration',
  'template_declaration',
  'lexical_declaration',
  'variable_declaration',
];
/** A signature is cut off behind so many rows. */
const MAX_SIGNATURE_ROWS = 6;
const MAX_NAME_CHARS = 80;

/** Undefined where nothing could be read. */
export function findDefinitions(parser: Parser, text: string): readonly Definition[] | undefined {
  const tree = parser.parse(text);
  if (tree === null) return undefined;
  try {
    const found: Definition[] = [];
    // Asking a node for its parent takes as long as it has siblings; its order tells the same.
    const open: Open[] = [];
    for (const node of tree.rootNode.descendantsOfType([...KINDS, ...WRAPPERS])) {
      while (open.length > 0 && open.at(-1)!.end <= node.startIndex) open.pop();
      const isWrapper = WRAPPERS.includes(node.type);
      const { row } = node.startPosition;
      if (!isWrapper && (!isDefinition(node) || node.equals(tree.rootNode))) continue;
      if (!isWrapper) {
        const inner = open.findLastIndex(({ begins }) => begins === undefined);
        const from = open[inner + 1]?.begins ?? row;
        const depth = open.filter(({ begins }) => begins === undefined).length;
        found.push({ ...rowsOf(node, from, text), name: nameOf(node, text), depth });
      }
      open.push({ end: node.endIndex, begins: isWrapper ? row : undefined });
    }
    return found;
  } finally {
    tree.delete();
  }
}

/** A node that the next may lie in; the row in which it begins only for what wraps a definition. */
interface Open {
  readonly end: number;
  readonly begins: number | undefined;
}

/** Words of the language have the kinds of what they begin in some grammars. */
function isDefinition(node: Node): boolean {
  if (!node.isNamed) return false;
  if (node.type !== 'variable_declarator') return true;
  return FUNCTIONS.test(node.childForFieldName('value')?.type ?? '');
}

function rowsOf(
  node: Node,
  from: number,
  text: string,
): Pick<Definition, 'from' | 'signatureEnd' | 'to'> {
  const { row, column } = node.endPosition;
  const to = Math.max(column === 0 ? row : row + 1, from + 1);
  const own = node.startPosition.row;
  const value = node.type === 'variable_declarator' ? node.childForFieldName('value') : node;
  const body = value?.childForFieldName('body') ?? null;
  const start = body?.startPosition.row ?? own;
  // A body without a brace begins with its first statement.
  const ends = body === null || text[body.startIndex] === '{' ? start + 1 : start;
  const signatureEnd = Math.min(Math.max(ends, own + 1), from + MAX_SIGNATURE_ROWS, to);
  return { from, signatureEnd, to };
}

function nameOf(node: Node, text: string): string {
  const named =
    node.childForFieldName('name') ??
    node.childForFieldName('declarator') ??
    node.childForFieldName('type');
  if (named === null) return '';
  return text.slice(named.startIndex, Math.min(named.endIndex, named.startIndex + MAX_NAME_CHARS));
}
