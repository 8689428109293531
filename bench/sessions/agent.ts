/**
 * The scripted agent: which tools it calls, in which order, over a real work tree. A seed decides
 * everything. Whatever it searches, reads and edits exists; its findings do not influence its next
 * steps.
 */
import { randomInt } from '../../fixtures/random.ts';
import type { Random } from '../../fixtures/random.ts';
import type { Tree } from './tree.ts';

/** A call, independent of any client's tool names. */
export type Call =
  | {
      readonly kind: 'read';
      readonly path: string;
      readonly from?: number;
      readonly count?: number;
    }
  | { readonly kind: 'grep'; readonly pattern: string }
  | { readonly kind: 'glob'; readonly pattern: string }
  | { readonly kind: 'bash'; readonly command: string; readonly why: string }
  | {
      readonly kind: 'edit';
      readonly path: string;
      readonly before: string;
      readonly after: string;
    }
  | { readonly kind: 'write'; readonly path: string; readonly text: string };

/** A response; one without calls ends the user's turn. */
export interface Step {
  readonly say: string;
  readonly calls: readonly Call[];
}

/** Kinds of session with their weights, and the mix of actions in each. */
export const TASKS = {
  'bug hunt': { weight: 25, does: { search: 3, read: 2, change: 2, check: 3, history: 1 } },
  feature: { weight: 25, does: { search: 2, read: 2, create: 1, change: 3, check: 3, history: 1 } },
  refactor: { weight: 20, does: { search: 3, change: 5, check: 3, history: 1 } },
  review: { weight: 15, does: { history: 4, read: 3, search: 3, check: 1 } },
  analysis: { weight: 15, does: { list: 3, read: 4, search: 3, history: 1 } },
} as const;

export type Task = keyof typeof TASKS;
type Act = 'search' | 'read' | 'change' | 'create' | 'check' | 'history' | 'list';

/** Chooses one of `weights` at random, with that probability. */
export function weightedChoice<K extends string>(
  random: Random,
  weights: Readonly<Partial<Record<K, number>>>,
): K {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what Object.entries forgets
  const entries = Object.entries(weights) as [K, number][];
  let left = random() * entries.reduce((sum, [, weight]) => sum + weight, 0);
  return entries.find(([, weight]) => (left -= weight) < 0)?.[0] ?? entries.at(-1)![0];
}

/** Longer files are read in parts half of the time; a part has up to this many lines. */
const LONG_LINES = 500;
const PART_LINES = 200;

/** Yields steps without end; `turnOf` returns how many of them each user turn takes. */
export function* agent(
  random: Random,
  tree: Tree,
  task: Task,
  turnOf: () => number,
): Generator<Step, never> {
  const actions = new TreeActions(random, tree);
  for (let turn = 0; ; turn++) {
    let left = turnOf();
    if (turn === 0) {
      yield { say: actions.words('I will look around first'), calls: actions.list() };
      left--;
    }
    while (left > 0)
      for (const calls of actions.act(weightedChoice<Act>(random, TASKS[task].does))) {
        yield { say: actions.words(), calls };
        if (--left === 0) break;
      }
    yield { say: actions.summary(task), calls: [] };
  }
}

class TreeActions {
  readonly #random: Random;
  readonly #tree: Tree;
  /** Files read so far, newest last. */
  readonly #read: string[] = [];
  readonly #tests: string[] = [];

  constructor(random: Random, tree: Tree) {
    this.#random = random;
    this.#tree = tree;
  }

  #one<T>(list: readonly T[]): T {
    return list[randomInt(this.#random, 0, list.length)]!;
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  /** Returns a file near those that it works on, or any other. */
  #file(): string {
    const sources = this.#tree.sources();
    const last = this.#read.at(-1);
    const near =
      last === undefined ? [] : sources.filter((file) => folderOf(file) === folderOf(last));
    return this.#one(near.length > 1 && this.#chance(0.6) ? near : sources);
  }

  /** Returns a name that occurs in a file. */
  #word(): string {
    const names = this.#tree.text(this.#read.at(-1) ?? this.#file()).match(/\b[a-z]\w*[A-Z]\w+\b/g);
    return names === null ? 'export' : this.#one(names);
  }

  /** Returns consecutive calls of one response. */
  *act(what: Act): Generator<readonly Call[]> {
    if (what === 'list') yield this.list();
    else if (what === 'history') yield this.#history();
    else if (what === 'read') yield this.#reads(this.#chance(0.2) ? 2 : 1);
    else if (what === 'search') yield* this.#search();
    else if (what === 'create') yield* this.#create();
    else if (what === 'check') yield* this.#check();
    else yield* this.#change();
  }

  list(): readonly Call[] {
    const folder = folderOf(this.#file());
    const commands = [
      'ls -la',
      `ls -la ${folder}`,
      `find ${folder} -type f | head -80`,
      `wc -l ${folder}/*`,
      'cat package.json',
      'npm ls --depth=0',
      'git status',
    ];
    if (this.#chance(0.25))
      return [
        { kind: 'glob', pattern: this.#tree.language === 'typescript' ? '**/*.ts' : '**/*.js' },
      ];
    return [bash(this.#one(commands), 'Look around')];
  }

  #history(): readonly Call[] {
    const file = this.#read.at(-1) ?? this.#file();
    const commands = [
      'git log --oneline -20',
      'git log --stat -4',
      `git log -p -2 -- ${file}`,
      'git show --stat HEAD',
      'git show HEAD',
      'git diff',
      'git diff --stat',
      'git status',
      `git diff HEAD~2 -- ${folderOf(file)}`,
      `git blame -L 1,60 ${file}`,
    ];
    return [bash(this.#one(commands), 'Look at the changes')];
  }

  #reads(count: number): readonly Call[] {
    return Array.from({ length: count }, () => this.#readOf(this.#file()));
  }

  #readOf(path: string): Call {
    const lines = this.#tree.text(path).split('\n').length;
    this.#read.push(path);
    if (lines <= LONG_LINES || this.#chance(0.5)) return { kind: 'read', path };
    const from = randomInt(this.#random, 1, lines - PART_LINES);
    return { kind: 'read', path, from, count: randomInt(this.#random, PART_LINES / 4, PART_LINES) };
  }

  *#search(): Generator<readonly Call[]> {
    const word = this.#word();
    yield [{ kind: 'grep', pattern: word }];
    const found = this.#tree.filesWith(word);
    if (found.length > 0 && this.#chance(0.7)) yield [this.#readOf(this.#one(found))];
  }

  *#change(): Generator<readonly Call[]> {
    const recent = this.#read.slice(-4);
    const path = recent.length > 0 && this.#chance(0.6) ? this.#one(recent) : this.#file();
    if (!this.#read.includes(path) || this.#chance(0.25)) {
      this.#read.push(path);
      yield [{ kind: 'read', path }];
    }
    for (let edits = randomInt(this.#random, 1, 4); edits > 0; edits--) {
      const edit = this.#edit(path);
      if (edit === undefined) return;
      yield [edit];
    }
    if (this.#chance(0.3)) yield [bash(`git diff ${path}`, 'Look at the edit')];
  }

  /** Returns an edit of a line that is unique in the file: appends a comment to it. */
  #edit(path: string): Extract<Call, { kind: 'edit' }> | undefined {
    const text = this.#tree.text(path);
    const lines = text
      .split('\n')
      .filter((line) => /[;{]$/.test(line) && line.length > 24 && text.split(line).length === 2);
    if (lines.length === 0) return undefined;
    const before = this.#one(lines);
    const indent = /^\s*/.exec(before)![0];
    return { kind: 'edit', path, before, after: `${before}\n${indent}// ${this.words()}` };
  }

  *#create(): Generator<readonly Call[]> {
    const subject = this.#file();
    const at = this.#tests.length + 1;
    const isScript = this.#tree.language === 'javascript';
    const path = isScript ? `test/agent-${at}.test.js` : `${folderOf(subject)}/agent-${at}.ts`;
    if (!isScript) {
      yield [{ kind: 'write', path, text: typesFile(at, this.words()) }];
      return;
    }
    this.#tests.push(path);
    yield [{ kind: 'write', path, text: testFile(at, subject, this.words()) }];
    yield [bash(this.#tree.check(path), 'Run the tests')];
  }

  /** Runs the checks of the tree; a third of the time an error is inserted first. */
  *#check(): Generator<readonly Call[]> {
    const isScript = this.#tree.language === 'javascript';
    if (isScript && this.#tests.length === 0) {
      yield* this.#create();
      return;
    }
    const run = bash(this.#tree.check(this.#read.at(-1) ?? this.#file()), 'Check the sources');
    const fault = this.#chance(1 / 3) ? this.#fault(isScript) : undefined;
    if (fault !== undefined) {
      yield [{ kind: 'edit', path: fault.path, before: fault.right, after: fault.wrong }];
      yield [run];
      yield [{ kind: 'edit', path: fault.path, before: fault.wrong, after: fault.right }];
    }
    yield [run];
  }

  /** Returns the error that the check will find. */
  #fault(isScript: boolean): { path: string; right: string; wrong: string } | undefined {
    const path = isScript ? this.#tests.at(-1) : this.#read.at(-1);
    if (path === undefined) return undefined;
    const right = isScript ? LIMIT : this.#edit(path)?.before;
    if (right === undefined || !this.#tree.text(path).includes(right)) return undefined;
    const wrong = isScript ? right.replace('3', '4') : `${right}\nconst wrong: number = 'text';`;
    return { path, right, wrong };
  }

  /** Returns what an agent says before a call. */
  words(first?: string): string {
    const file = this.#read.at(-1) ?? 'the sources';
    const starts = [
      'Now I look at',
      'Next comes',
      'The cause may be in',
      'This depends on',
      'Let me verify',
      'I need to see',
    ];
    const ends = [
      'how the callers use it',
      'where the value comes from',
      'what happens on an early return',
      'whether the order matters here',
      'which errors can reach this place',
      'what the tests expect',
    ];
    return `${first ?? this.#one(starts)} ${file} and ${this.#one(ends)}.`;
  }

  summary(task: Task): string {
    const lines = Array.from({ length: randomInt(this.#random, 3, 9) }, () => `- ${this.words()}`);
    return `That was the ${task} so far:\n\n${lines.join('\n')}\n\nSay how you want to go on.`;
  }
}

/** Code that the agent's tests rely on. */
const LIMIT = 'const limit = 3;';

const bash = (command: string, why: string): Call => ({ kind: 'bash', command, why });

const folderOf = (file: string): string =>
  file.includes('/') ? file.slice(0, file.lastIndexOf('/')) : '.';

const typesFile = (n: number, words: string): string =>
  `/** ${words} */\nexport interface Agent${n} {\n  readonly name: string;\n  readonly limit: number;\n}\n\nexport function agent${n}(name: string): Agent${n} {\n  return { name, limit: ${n} };\n}\n`;

const testFile = (n: number, subject: string, words: string): string =>
  `'use strict';\nconst test = require('node:test');\nconst assert = require('node:assert');\nconst { readFileSync } = require('node:fs');\n\n// ${words}\n${LIMIT}\n${Array.from(
    { length: 6 },
    (_, at) =>
      `\ntest('agent ${n}: ${subject} has part ${at}', () => {\n  const text = readFileSync('${subject}', 'utf8');\n  assert.ok(text.length > ${at});\n${at === 2 ? '  assert.strictEqual(limit, 3);\n' : ''}});\n`,
  ).join('')}`;
