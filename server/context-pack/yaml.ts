/** Reads YAML 1.2 into plain data, with the offset of every name and value; what JSON has no word for is refused. */
import type { Node } from 'yaml';
import type { PackPath } from './check.ts';
import { pathText, type PlacedFault, type PlacedValue } from './placed.ts';

type Yaml = typeof import('yaml');

class YamlFault extends Error {
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** Aliases and tags are refused: a pack is data, and what it says stands where it is said. */
export async function parseYaml(
  text: string,
  maxDepth: number,
): Promise<PlacedValue | PlacedFault> {
  const yaml = await import('yaml');
  try {
    refuseDepth(yaml, text, maxDepth);
    const document = yaml.parseDocument(text, {
      version: '1.2',
      schema: 'core',
      merge: false,
      // Its check compares every key with every other; the walk below uses a map.
      uniqueKeys: false,
      customTags: [],
      prettyErrors: false,
      logLevel: 'error',
    });
    const problem = document.errors[0] ?? document.warnings[0];
    if (problem !== undefined)
      return { at: problem.pos[0], why: problem.message.split('\n', 1)[0] ?? '' };
    return new PlacedYaml(yaml, maxDepth).read(document.contents);
  } catch (thrown) {
    if (thrown instanceof YamlFault) return { at: thrown.at, why: thrown.message };
    throw thrown;
  }
}

/** What the lexer puts between tokens: a document begins, a mistake, the next is the text of a scalar. */
const SIGNS: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001f']);

/** The parser recurses: what nests too deeply must not reach it. Cutting into tokens does not. */
function refuseDepth(yaml: Yaml, text: string, maxDepth: number): void {
  let brackets = 0;
  let markers = 0;
  let at = 0;
  for (const token of new yaml.Lexer().lex(text)) {
    if (token === '[' || token === '{') brackets++;
    if (token === ']' || token === '}') brackets--;
    if (token === '-' || token === '?') markers++;
    if (token.includes('\n')) markers = 0;
    if (brackets > maxDepth || markers > maxDepth)
      throw new YamlFault(Math.min(at, text.length), `it nests deeper than ${maxDepth}`);
    if (!SIGNS.has(token)) at += token.length;
  }
}

class PlacedYaml {
  readonly #yaml: Yaml;
  readonly #maxDepth: number;
  readonly #values = new Map<string, number>();
  readonly #names = new Map<string, number>();
  readonly #repeated: { path: PackPath; at: number }[] = [];

  constructor(yaml: Yaml, maxDepth: number) {
    this.#yaml = yaml;
    this.#maxDepth = maxDepth;
  }

  read(contents: Node | null): PlacedValue {
    const value = this.#value(contents, [], 0);
    return { value, values: this.#values, names: this.#names, repeated: this.#repeated };
  }

  #value(node: Node | null, path: PackPath, parentAt: number): unknown {
    const at = node?.range?.[0] ?? parentAt;
    this.#values.set(pathText(path), at);
    if (node === null) return null;
    if (path.length > this.#maxDepth)
      throw new YamlFault(at, `it nests deeper than ${this.#maxDepth}`);
    const { isAlias, isScalar, isSeq, isMap } = this.#yaml;
    if (isAlias(node)) throw new YamlFault(at, 'aliases are not read: write the value itself');
    if (node.tag !== undefined) throw new YamlFault(at, `tags such as ${node.tag} are not read`);
    if (isScalar(node)) return typeof node.value === 'bigint' ? Number(node.value) : node.value;
    if (isSeq(node))
      return node.items.map((item, index) =>
        this.#value(item as Node | null, [...path, index], at),
      );
    if (!isMap(node)) throw new YamlFault(at, 'a value is wanted here');
    const members = new Map<string, unknown>();
    for (const { key, value } of node.items as { key: Node | null; value: Node | null }[]) {
      const nameAt = key?.range?.[0] ?? at;
      if (!isScalar(key)) throw new YamlFault(nameAt, 'only plain text can be a name');
      // A name that YAML reads as a number is meant as written.
      const name = typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
      const inner = [...path, name];
      if (members.has(name)) this.#repeated.push({ path: inner, at: nameAt });
      this.#names.set(pathText(inner), nameAt);
      members.set(name, this.#value(value, inner, nameAt));
    }
    return Object.fromEntries(members);
  }
}
