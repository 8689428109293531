/**
 * Reads YAML 1.2 into plain data, with the offset of every name and value; anything that JSON
 * cannot represent is refused.
 */
import type { Node } from 'yaml';
import { YamlFault, parseYaml } from '../config/yaml-document.ts';
import type { Yaml } from '../config/yaml-document.ts';
import type { PackPath } from './check.ts';
import { pathText, type PlacedFault, type PlacedValue } from './positions.ts';

/** For 4 MiB; a pack has about ten per member of a block. */
const MAX_TOKENS = 1_000_000;

/** Parses a pack. Aliases and tags are refused: a pack is plain data, without references. */
export async function parsePack(text: string, depth: number): Promise<PlacedValue | PlacedFault> {
  try {
    const { yaml, contents } = await parseYaml(text, {
      depth,
      tokens: MAX_TOKENS,
      aliases: 0,
    });
    return new PlacedYaml(yaml, depth).read(contents);
  } catch (thrown) {
    if (thrown instanceof YamlFault) return { at: thrown.at ?? 0, reason: thrown.message };
    throw thrown;
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
    if (path.length > this.#maxDepth) throw new YamlFault('it is nested too deeply', at);
    const { isAlias, isScalar, isSeq, isMap } = this.#yaml;
    if (isAlias(node)) throw new YamlFault('aliases are not read: write the value itself', at);
    if (node.tag !== undefined) throw new YamlFault(`tags such as ${node.tag} are not read`, at);
    if (isScalar(node)) return typeof node.value === 'bigint' ? Number(node.value) : node.value;
    if (isSeq(node))
      return node.items.map((item, index) =>
        this.#value(item as Node | null, [...path, index], at),
      );
    if (!isMap(node)) throw new YamlFault('a value is expected here', at);
    const members = new Map<string, unknown>();
    for (const { key, value } of node.items as { key: Node | null; value: Node | null }[]) {
      const nameAt = key?.range?.[0] ?? at;
      if (!isScalar(key)) throw new YamlFault('only plain text can be a name', nameAt);
      // A name that YAML reads as a number is kept as written.
      const name = typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
      const inner = [...path, name];
      if (members.has(name)) this.#repeated.push({ path: inner, at: nameAt });
      this.#names.set(pathText(inner), nameAt);
      members.set(name, this.#value(value, inner, nameAt));
    }
    return Object.fromEntries(members);
  }
}
