/** Generates a folder of files to index: prose or code, deterministic by seed. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom, randomInt, type Random } from '../fixtures/random.ts';

/** Content of a tree's files. */
export type TreeKind = 'prose' | 'code';

const SYLLABLES =
  'ba be bi bo ca ce co da de di do fa fe fi ga ge go ha he hi ja ka ke la le li lo ma me mi mo ' +
  'na ne ni no pa pe po ra re ri ro sa se si so ta te ti to va ve vi wa za ple tra str con ing';

/**
 * Writes `files` files of 2–14 kB (median about 6 kB) below `root`; returns the sum of their sizes
 * in bytes.
 */
export function makeTree(root: string, files: number, kind: TreeKind, seed: number): number {
  const random = createRandom(seed);
  const words = makeWords(random, 12_000);
  let bytes = 0;
  for (let index = 0; index < files; index++) {
    const dir = join(root, `part${index % 40}`, `group${index % 7}`);
    mkdirSync(dir, { recursive: true });
    const size = 2_000 + Math.floor(random() ** 1.6 * 12_000);
    const [text, extension] =
      kind === 'prose' ? [prose(random, words, size), 'md'] : code(random, words, size, index);
    writeFileSync(join(dir, `${pick(random, words)}-${index}.${extension}`), text);
    bytes += text.length;
  }
  return bytes;
}

/**
 * Returns `count` queries with words from the tree of the same seed, each with the given number of
 * different words; default: a typical number.
 */
export function makeQueries(
  count: number,
  seed: number,
  [min, max]: readonly [number, number] = [3, 12],
): string[] {
  const words = makeWords(createRandom(seed), 12_000);
  const random = createRandom(seed + 1);
  return Array.from({ length: count }, () => {
    const query = new Set<string>();
    const length = randomInt(random, min, max + 1);
    while (query.size < length) query.add(pick(random, words));
    return [...query].join(' ');
  });
}

/** Frequent words first: `pick` prefers them, as in natural language. */
function makeWords(random: Random, count: number): string[] {
  const syllables = SYLLABLES.split(' ');
  const words = new Set<string>();
  while (words.size < count) {
    const length = randomInt(random, 2, 5);
    words.add(
      Array.from({ length }, () => syllables[randomInt(random, 0, syllables.length)]).join(''),
    );
  }
  return [...words];
}

function pick(random: Random, words: readonly string[]): string {
  return words[Math.floor(words.length ** random()) - 1] ?? words[0]!;
}

function prose(random: Random, words: readonly string[], size: number): string {
  let text = '';
  while (text.length < size) {
    text += `\n## ${pick(random, words)} ${pick(random, words)}\n\n`;
    for (let line = randomInt(random, 4, 14); line > 0; line--) {
      text += `${Array.from({ length: 12 }, () => pick(random, words)).join(' ')}.\n`;
    }
  }
  return text;
}

function code(
  random: Random,
  words: readonly string[],
  size: number,
  index: number,
): [text: string, extension: string] {
  const name = (): string => {
    const second = pick(random, words);
    return pick(random, words) + second[0]!.toUpperCase() + second.slice(1);
  };
  const python = index % 3 === 0;
  let text = '';
  while (text.length < size) {
    const [title, local, other] = [name(), name(), name()];
    const lines = Array.from({ length: randomInt(random, 4, 16) }, () =>
      python
        ? `    ${local} = ${name()}(${other}, ${randomInt(random, 0, 99)})  # ${pick(random, words)}`
        : `  const ${name()} = ${local}(${other}, '${pick(random, words)}');`,
    ).join('\n');
    text += python
      ? `def ${title}(${local}, ${other}):\n    """${pick(random, words)}"""\n${lines}\n    return ${local}\n\n`
      : `/** ${pick(random, words)} ${pick(random, words)} */\nexport function ${title}(${local}: string, ${other}: number) {\n${lines}\n  return ${other};\n}\n\n`;
  }
  return [text, python ? 'py' : 'ts'];
}
