/**
 * Reads a YAML config file into plain data within fixed limits, and remembers the line of each
 * value. A config file may come from anywhere, so nothing in it (aliases that multiply, tags, merge
 * keys, depth, prototype names) may cost more than its size suggests.
 */
import type { Node, Pair, YAMLMap } from 'yaml';
import { SvcError } from '../../engine/error.ts';
import { quote } from '../../stages/settings/setting.ts';
import type { Origin } from '../../stages/settings/setting.ts';
import { fault, type Fault } from './fault.ts';
import { YamlFault, parseYaml } from './yaml-document.ts';
import type { Lines, Yaml } from './yaml-document.ts';

/** Names that would reach an object's prototype; refused wherever the user chooses a name. */
const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** The limits of a config file. */
export const YAML_LIMITS = {
  bytes: 256 * 1024,
  aliases: 50,
  tokens: 20_000,
  /** Values; those reached through aliases count each time. */
  nodes: 20_000,
  depth: 32,
} as const;

/** A parsed file: its data, its faults, and the line of each path. */
export interface YamlFile {
  readonly data: unknown;
  readonly faults: readonly Fault[];
  /** Returns the place of the value at `path`, or of the nearest parent that has one. */
  readonly originOf: (path: readonly string[]) => Origin;
}

/**
 * Parses `text` of the file called `name`.
 *
 * @throws SvcError `config` CONFIG_001 for a syntax error or an exceeded limit; the message gives
 * only the place.
 */
export async function readYaml(text: string, name: string): Promise<YamlFile> {
  const { yaml, contents, lines } = await parseYaml(text, YAML_LIMITS).catch((thrown: unknown) => {
    if (!(thrown instanceof YamlFault)) throw thrown;
    const { at, message } = thrown;
    const line = at === undefined ? '' : `:${text.slice(0, at).split('\n').length}`;
    throw malformed(`${name}${line}: ${withoutSource(message)}`, thrown.cause);
  });
  const walk = new Walk(yaml, name, lines);
  const data = contents === null ? null : walk.plain(contents, [], 0);
  return { data, faults: walk.faults, originOf: (path) => walk.originOf(path) };
}

/** Converts nodes to plain data without a prototype, counting the values. */
class Walk {
  readonly faults: Fault[] = [];
  readonly #yaml: Yaml;
  readonly #name: string;
  readonly #lines: Lines;
  readonly #anchors = new Map<string, Node>();
  readonly #lineByPath = new Map<string, number>();
  #nodes = 0;
  #aliases = 0;

  constructor(yaml: Yaml, name: string, lines: Lines) {
    this.#yaml = yaml;
    this.#name = name;
    this.#lines = lines;
  }

  originOf(path: readonly string[]): Origin {
    for (let length = path.length; length > 0; length--) {
      const line = this.#lineByPath.get(path.slice(0, length).join('\n'));
      if (line !== undefined) return { source: 'file', where: `${this.#name}:${line}` };
    }
    return { source: 'file', where: this.#name };
  }

  plain(node: Node | null, path: readonly string[], depth: number): unknown {
    if (node === null) return null;
    if (++this.#nodes > YAML_LIMITS.nodes) this.#refuse(node, 'it holds too many values');
    if (depth > YAML_LIMITS.depth) this.#refuse(node, 'it is nested too deeply');
    if (this.#yaml.isAlias(node)) return this.#followed(node, path, depth);
    if (node.tag !== undefined) this.#refuse(node, `tags such as ${quote(node.tag)} are not read`);
    if (this.#yaml.isScalar(node)) {
      if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
      return typeof node.value === 'bigint' ? Number(node.value) : node.value;
    }
    if (this.#yaml.isSeq(node)) {
      if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
      return (node.items as (Node | null)[]).map((item, index) => {
        const below = [...path, `${index}`];
        if (item !== null) this.#lineByPath.set(below.join('\n'), this.#lineOf(item));
        return this.plain(item, below, depth + 1);
      });
    }
    return this.#map(node, path, depth);
  }

  #map(node: YAMLMap, path: readonly string[], depth: number): unknown {
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    const result = Object.create(null) as Record<string, unknown>;
    for (const pair of node.items as Pair<Node, Node | null>[]) {
      const key = this.#keyOf(pair.key, node);
      const below = [...path, key];
      const line = this.#lineOf(pair.key);
      this.#lineByPath.set(below.join('\n'), line);
      if (FORBIDDEN_NAMES.has(key)) {
        const text = `${below.join('.')}: ${quote(key)} may not be used as a name`;
        this.faults.push(fault(this.originOf(below), below.join('.'), text));
      } else if (key === '<<') {
        this.#refuse(pair.key, 'merge keys (<<) are not read');
      } else if (key in result) {
        this.#refuse(pair.key, `${quote(key)} is defined twice`);
      } else {
        result[key] = this.plain(pair.value, below, depth + 1);
      }
    }
    return result;
  }

  #keyOf(key: Node, map: Node): string {
    if (!this.#yaml.isScalar(key)) return this.#refuse(map, 'only plain text can be a key');
    if (key.tag !== undefined) this.#refuse(key, `tags such as ${quote(key.tag)} are not read`);
    // A key that YAML reads as a number, such as a model called 4.10, is kept as written.
    return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
  }

  #followed(alias: Node & { source: string }, path: readonly string[], depth: number): unknown {
    if (++this.#aliases > YAML_LIMITS.aliases) {
      this.#refuse(alias, `it follows more than ${YAML_LIMITS.aliases} aliases`);
    }
    const target = this.#anchors.get(alias.source);
    if (target === undefined) return this.#refuse(alias, `no anchor &${alias.source} before it`);
    return this.plain(target, path, depth + 1);
  }

  #lineOf(node: Node): number {
    return this.#lines.linePos(node.range?.[0] ?? 0).line;
  }

  #refuse(node: Node, reason: string): never {
    throw malformed(`${this.#name}:${this.#lineOf(node)}: ${reason}`);
  }
}

function malformed(reason: string, cause?: unknown): SvcError {
  return new SvcError('config', reason, { code: 'CONFIG_001', cause });
}

/** The parser's message without quoted source text, which may contain a key. */
function withoutSource(message: string): string {
  return message.replace(/: \S[^]*$/, '').replace(/!\S+/g, 'tag');
}
