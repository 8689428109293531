/**
 * Finds definitions by parsing. Grammars are WebAssembly files inside a package; each is loaded
 * with the first file of its language, and only in a worker thread.
 */
import type { Node, Parser } from 'web-tree-sitter';
import { createGrammarLoader, grammarsByExtension } from '../../grammars.ts';
import type { Mark } from './chunk.ts';

/** Parsing takes about 0.7 ms per kilobyte; larger files are mostly generated. */
const MAX_PARSED_CHARS = 300_000;
/** Nesting depth (namespace in class in namespace) below which parts are cut by size. */
const MAX_DEPTH = 3;

export const GRAMMARS = grammarsByExtension({ bash: 'zsh', ini: 'ini' });

/** Nodes whose children become separate parts when the node itself is too long. */
const CONTAINER =
  /(class|interface|namespace|module|impl|trait|struct|enum|object|record|extension|mod|internal_module|declaration_list|body|block|decorated|export|declaration|template|program|compound)/;

/**
 * Finds the marks of a file; undefined if it cannot: unknown language, too long, broken grammar.
 */
export type Grammars = ReturnType<typeof createGrammars>;

/** Returns true for a file extension (without the dot) that has a grammar. */
export function hasGrammar(extension: string): boolean {
  return GRAMMARS.has(extension);
}

/** Creates a set of grammars, none loaded yet. */
export function createGrammars() {
  const loader = createGrammarLoader();
  /**
   * Returns the parser; undefined if the grammar does not load, as the layout of the code is a fair
   * substitute.
   */
  const parserFor = (name: string): Promise<Parser | undefined> =>
    loader.load(name).then(
      ({ parser }) => parser,
      () => undefined,
    );
  return {
    /** Allows failed grammars to be tried again. */
    forgetFailures: (): void => loader.forgetFailures(),
    async marks(extension: string, text: string): Promise<Mark[] | undefined> {
      const name = GRAMMARS.get(extension);
      if (name === undefined || text.length > MAX_PARSED_CHARS) return undefined;
      const parser = await parserFor(name);
      const tree = parser?.parse(text);
      if (tree === null || tree === undefined) return undefined;
      try {
        const marks: Mark[] = [];
        collect(tree.rootNode, 0, marks);
        return marks;
      } finally {
        tree.delete();
      }
    },
  };
}

/** Marks the children of `node` that span more than one line, each with the comments above it. */
function collect(node: Node, depth: number, marks: Mark[]): void {
  let commentFrom = -1;
  let commentTo = -1;
  for (const child of node.namedChildren) {
    if (child === null) continue;
    const from = child.startPosition.row;
    const to = child.endPosition.row;
    if (/comment|attribute|decorator|annotation/.test(child.type)) {
      if (commentTo + 1 < from) commentFrom = from;
      commentTo = to;
      continue;
    }
    const attached = commentTo !== -1 && commentTo + 1 >= from;
    if (to > from) marks.push({ line: attached ? commentFrom : from, depth });
    [commentFrom, commentTo] = [-1, -1];
    if (to - from > 20 && CONTAINER.test(child.type)) descend(child, depth, marks);
  }
}

/** Descends into a body or wrapper, which adds no depth of its own: only its members matter. */
function descend(node: Node, depth: number, marks: Mark[]): void {
  if (depth >= MAX_DEPTH) return;
  const body = node.childForFieldName('body') ?? node.childForFieldName('declaration');
  if (body === null) {
    const inner = node.namedChildren.filter(
      (child) => child !== null && CONTAINER.test(child.type),
    );
    for (const child of inner) if (child !== null) descend(child, depth, marks);
    if (inner.length === 0) collect(node, depth + 1, marks);
    return;
  }
  if (body.type.includes('body') || body.type.includes('list') || body.type.includes('block')) {
    collect(body, depth + 1, marks);
  } else {
    descend(body, depth, marks);
  }
}
