/**
 * Work trees for recorded sessions, with their own sources and history: a clone of this project, or
 * an installed package. The scripted agent reads them to know what it may read and edit.
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { projectRoot } from '../../fixtures/paths.ts';

export interface Tree {
  readonly folder: string;
  readonly language: 'typescript' | 'javascript';
  /** The command that finds errors in a file; in JavaScript, the tests that the agent wrote. */
  check(file: string): string;
  /** Source files, relative to the folder. */
  sources(): readonly string[];
  text(file: string): string;
  /** Returns the files that contain a word. */
  filesWith(word: string): readonly string[];
}

/** The trees of sessions: the project itself, and packages that ship their sources. */
export const TREES: readonly string[] = ['svc', 'undici', 'zod', 'ws'];

/** Type checking this whole project is too slow on a busy machine. */
const CHECKS: Readonly<Record<string, string>> = {
  svc: 'npx oxlint FOLDER',
  zod: 'npx tsc --noEmit',
};

const SOURCE = { typescript: /(?<!\.d)\.ts$/, javascript: /\.(?:c|m)?js$/ } as const;
/** For packages without one. */
const TSCONFIG = {
  compilerOptions: { strict: true, module: 'nodenext', target: 'es2022', skipLibCheck: true },
  include: ['src'],
  exclude: ['**/tests/**', '**/benchmarks/**'],
};
const MAX_BYTES = 200_000;

/** Creates the tree `name` in `folder`, which must not exist yet. */
export function makeTree(name: string, folder: string): Tree {
  const git = (...args: string[]): void => {
    const who = ['-c', 'user.name=Dev', '-c', 'user.email=dev@example.invalid'];
    execFileSync('git', [...who, ...args], { cwd: folder, stdio: 'ignore' });
  };
  if (name === 'svc') {
    execFileSync('git', ['clone', '-q', projectRoot, folder]);
  } else {
    const source = join(projectRoot, 'node_modules', name);
    mkdirSync(folder, { recursive: true });
    git('init', '-q');
    // One commit per part, so that there is some history.
    for (const part of readdirSync(source).filter((one) => one !== 'node_modules')) {
      cpSync(join(source, part), join(folder, part), { recursive: true });
      git('add', '-A');
      git('commit', '-q', '-m', `add ${part}`);
    }
  }
  if (name === 'zod') writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
  const language = name === 'svc' || name === 'zod' ? 'typescript' : 'javascript';
  const text = (file: string): string => readFileSync(join(folder, file), 'utf8');
  const sources = (): readonly string[] =>
    filesIn(folder).filter((file) => SOURCE[language].test(file));
  return {
    folder,
    language,
    check: (file) => CHECKS[name]?.replace('FOLDER', dirname(file)) ?? 'node --test test/',
    sources,
    text,
    filesWith: (word) => sources().filter((file) => text(file).includes(word)),
  };
}

function filesIn(folder: string, below = ''): readonly string[] {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') return [];
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) return filesIn(folder, path);
    const isFit = entry.isFile() && statSync(join(folder, path)).size < MAX_BYTES;
    return isFit && existsSync(join(folder, path)) ? [path] : [];
  });
}
