/**
 * Labelled samples for classes that need no corpus: code, diffs, listings and grep output made from
 * installed packages and this repository, with the real tools.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join, relative } from 'node:path';
import type { TextClass } from '../../stages/model/classify/classes.ts';
import type { ClassifyHints } from '../../stages/model/classify/hints.ts';

/** A text whose class is known from how it was made. */
export interface Sample {
  readonly name: string;
  readonly text: string;
  readonly expected: TextClass;
  readonly hints: ClassifyHints;
}

const CODE = new Set('.ts .js .mjs .cjs .c .cc .cpp .h .hpp .py .sh .css .tsx'.split(' '));

/**
 * Returns source files of installed packages, `perExtension` of each kind, between 1 and 60 KB and
 * not minified.
 */
export function codeFiles(root: string, perExtension: number): readonly string[] {
  const found = new Map<string, string[]>();
  const visit = (folder: string, depth: number): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && depth < 7) visit(path, depth + 1);
      const kind = extname(entry.name);
      if (!entry.isFile() || !CODE.has(kind) || !isReadable(path)) continue;
      found.set(kind, [...(found.get(kind) ?? []), path]);
    }
  };
  visit(join(root, 'node_modules'), 0);
  return [...found.values()].flatMap((paths) => takeSample(root, paths, perExtension));
}

/** Selects `count` paths by a hash of each: adding or removing a package changes few others. */
function takeSample(root: string, paths: readonly string[], count: number): readonly string[] {
  const keyOf = (path: string): string =>
    createHash('sha1').update(relative(root, path)).digest('hex');
  return paths
    .map((path) => [keyOf(path), path] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, count)
    .map(([, path]) => path);
}

/** Selects `count` items at even distances, so that one large package does not dominate. */
export function spread<T>(items: readonly T[], count: number): readonly T[] {
  if (items.length <= count) return items;
  return Array.from({ length: count }, (_, n) => items[Math.floor((n * items.length) / count)]!);
}

function isReadable(path: string): boolean {
  const size = statSync(path).size;
  if (size < 1000 || size > 60_000) return false;
  const text = readFileSync(path, 'utf8');
  return text.length / text.split('\n').length < 120;
}

/**
 * Returns the standard output of a tool run in `cwd`, even with exit code 1; empty if it cannot
 * run.
 */
export function run(cwd: string, command: string, ...args: readonly string[]): string {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 64e6, stdio: 'pipe' });
  } catch (error) {
    const output = (error as { stdout?: string }).stdout;
    return typeof output === 'string' ? output : '';
  }
}

/** Returns whole files and excerpts of code, with and without a hint. */
export function codeSamples(root: string): readonly Sample[] {
  return codeFiles(root, 14).flatMap((path) => {
    const text = readFileSync(path, 'utf8');
    const lines = text.split('\n');
    const from = Math.floor(lines.length / 3);
    const excerpt = lines.slice(from, from + 60).join('\n');
    const numbered = lines.map((line, index) => `${String(index + 1).padStart(6)}\t${line}`);
    const expected = 'code';
    return [
      { name: `${path} (bare)`, text, expected, hints: {} },
      {
        name: `${path} (excerpt)`,
        text: excerpt,
        expected,
        hints: { command: `sed -n '9,99p' ${path}` },
      },
      {
        name: `${path} (read)`,
        text: numbered.join('\n'),
        expected,
        hints: { toolName: 'Read', path },
      },
    ] as const;
  });
}

const SEARCHED = ['undici', 'ws', 'yaml', 'kysely', 'arktype', 'pino', 'chokidar', 'diff'];
const WORDS = ['function', 'Error', 'export', 'stream', 'abort', 'timeout'];

/** Returns grep output over installed packages, cut to 200 lines as an agent would. */
export function grepSamples(root: string): readonly Sample[] {
  const samples = SEARCHED.flatMap((name) =>
    WORDS.map((word) => {
      const folder = `node_modules/${name}`;
      const text = run(root, 'grep', '-rnI', '--include=*.ts', '--include=*.js', word, folder);
      const command = `grep -rn ${word} ${folder}`;
      const lines = text.split('\n').filter((line) => line.length < 400);
      return { name: command, text: lines.slice(0, 200).join('\n'), command };
    }),
  );
  return samples
    .filter((sample) => sample.text.split('\n').length >= 8)
    .flatMap(({ name, text, command }, index) => ({
      name,
      text,
      expected: 'grep' as const,
      hints: index % 2 === 0 ? {} : { command },
    }));
}

/** Returns listings of installed packages by ls and find. */
export function listingSamples(root: string): readonly Sample[] {
  const folders = SEARCHED.map((name) => `node_modules/${name}`).concat('node_modules');
  return folders
    .flatMap((folder) =>
      [
        ['ls', folder],
        ['ls', '-la', folder],
        ['ls', '-R', folder],
        ['find', folder, '-name', '*.js'],
        ['find', folder, '-maxdepth', '3', '-type', 'f'],
      ].map(([command, ...args]) => ({
        name: [command, ...args].join(' '),
        text: run(root, command!, ...args)
          .split('\n')
          .slice(0, 400)
          .join('\n'),
        expected: 'listing' as const,
        hints: args.length % 2 === 0 ? {} : { command: [command, ...args].join(' ') },
      })),
    )
    .filter((sample) => sample.text.split('\n').length >= 5);
}

/** Returns diffs between neighbouring files of installed packages, which share little. */
export function unrelatedSamples(root: string): readonly Sample[] {
  const files = codeFiles(root, 60);
  const pairs = files.slice(1).map((file, index) => [files[index]!, file] as const);
  const texts = pairs
    .filter(([a, b]) => extname(a) === extname(b))
    .map(([a, b]) => run(root, 'git', 'diff', '--no-index', '--minimal', a, b))
    .filter((text) => text.length > 500 && text.length < 60_000);
  return spread(texts, 40).map(toDiffSample);
}

/**
 * Returns commits of this repository's history, as `git show` prints them; many add whole files.
 */
export function historySamples(root: string): readonly Sample[] {
  const commits = run(root, 'git', 'log', '--format=%h', '-n', '40').split('\n').filter(Boolean);
  return commits
    .map((commit) => run(root, 'git', 'show', commit))
    .filter((text) => text.includes('\n@@ ') && text.length < 200_000)
    .map(toDiffSample);
}

function toDiffSample(text: string, index: number): Sample {
  const hints = index % 2 === 0 ? {} : { command: 'git diff' };
  return { name: `diff ${index}`, text, expected: 'diff', hints };
}

/**
 * Returns diffs of small edits to installed source files, like an agent's. Seeded, so that runs are
 * comparable.
 */
export function editSamples(root: string): readonly Sample[] {
  const random = seeded(7);
  const folder = mkdtempSync(join(tmpdir(), 'svc-edits-'));
  try {
    return codeFiles(root, 10).flatMap((path, index) => {
      const lines = readFileSync(path, 'utf8').split('\n');
      for (let edit = 0; edit < 4; edit++) {
        const at = Math.floor(random() * lines.length);
        const remove = random() < 0.5 ? 1 + Math.floor(random() * 3) : 0;
        lines.splice(at, remove, `  changed(${edit}); // edit ${index}`);
      }
      const edited = join(folder, `${index}${extname(path)}`);
      writeFileSync(edited, lines.join('\n'));
      const text = run(root, 'git', 'diff', '--no-index', path, edited).replaceAll(
        `b${edited}`,
        `b${path}`,
      );
      return text === ''
        ? []
        : [{ name: `edit of ${path}`, text, expected: 'diff' as const, hints: {} }];
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x80000000;
  };
}
