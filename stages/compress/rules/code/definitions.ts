/** Definitions in source code, found by the parser; file outlines are made of them. */
import type { Node, Parser } from 'web-tree-sitter';

/** A function, class, type or the like. Rows are zero-based, ranges half open. */
export interface Definition {
  readonly name: string;
  /** First row, including decorators. */
  readonly from: number;
  /** First row after the signature. */
  readonly signatureEnd: number;
  readonly to: number;
  /** Number of definitions that enclose it. */
  readonly depth: number;
}

/**
 * Returns the definitions of `text`, in order; in a text with syntax errors, those that are found.
 * Undefined if the language is unknown or the text too long. May throw `GrammarNeeded`.
 */
export type Definitions = (text: string, extension: string) => readonly Definition[] | undefined;

/** Node kinds of definitions in any grammar. */
const DEFINITION_KINDS = (
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
/** Values that make a variable a definition. */
const FUNCTION_VALUE = /^(?:arrow_function|function_expression|generator_function|class)$/;
/** Node kinds that wrap a definition and begin before it. */
const WRAPPER_KINDS: readonly string[] = [
  'decorated_definition',
  'export_statement',
  'ambient_declaration',
  'template_declaration',
  'lexical_declaration',
  'variable_declaration',
];
/** A signature is cut after this many rows. */
const MAX_SIGNATURE_ROWS = 6;
const MAX_NAME_CHARS = 80;

/** Returns the definitions; undefined if the text could not be parsed. */
export function findDefinitions(parser: Parser, text: string): readonly Definition[] | undefined {
  const tree = parser.parse(text);
  if (tree === null) return undefined;
  try {
    const found: Definition[] = [];
    // Asking for a node's parent takes time in proportion to its siblings; document order gives the
    // same information.
    const open: OpenNode[] = [];
    for (const node of tree.rootNode.descendantsOfType([...DEFINITION_KINDS, ...WRAPPER_KINDS])) {
      while (open.length > 0 && open.at(-1)!.end <= node.startIndex) open.pop();
      const isWrapper = WRAPPER_KINDS.includes(node.type);
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

/** A node that may enclose the next; `begins` is set only for wrappers of a definition. */
interface OpenNode {
  readonly end: number;
  readonly begins: number | undefined;
}

/** Returns true for a definition. In some grammars a keyword has the kind of the node it begins. */
function isDefinition(node: Node): boolean {
  if (!node.isNamed) return false;
  if (node.type !== 'variable_declarator') return true;
  return FUNCTION_VALUE.test(node.childForFieldName('value')?.type ?? '');
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
  // A body without a brace begins at its first statement.
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
