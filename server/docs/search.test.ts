/** Questions of people who have never seen the pages: the right one is among the first two that are found. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { madeByBuild } from '../http/made-by-build.ts';
import { buildIndex, search, wordsOf } from './search.ts';
import type { SearchIndex } from './search.ts';

const index = JSON.parse(readFileSync(madeByBuild('docs-index.json'), 'utf8')) as SearchIndex;

/** What is typed, and the pages that answer it. */
const QUESTIONS: readonly (readonly [string, ...string[]])[] = [
  ['claude code', 'clients'],
  ['how to use with cursor', 'clients'],
  ['fallback provider', 'providers'],
  ['ollama', 'providers', 'clients'],
  ['budget per day', 'providers', 'settings'],
  ['what is never changed', 'compression'],
  ['turn off compression', 'compression', 'switching'],
  ['prompt cache miss', 'cache-misses'],
  ['port is taken', 'troubleshooting'],
  ['401 unauthorized', 'troubleshooting', 'security', 'providers'],
  ['rotate key', 'security'],
  ['nginx', 'reverse-proxy', 'deploy'],
  ['docker compose', 'deploy'],
  ['kubernetes', 'deploy'],
  ['postgres ledger', 'fleet'],
  ['redis rate limit', 'redis'],
  ['write a plugin stage', 'first-stage', 'plugins'],
  ['websocket', 'websocket'],
  ['record requests', 'replay'],
  ['grafana', 'examples', 'deploy'],
  ['environment variables', 'settings'],
  ['exit codes', 'commands'],
  ['commit message', 'contributing'],
  ['difference to litellm', 'compared'],
  ['why web streams', 'decision-web-streams', 'architecture'],
];

test('twenty questions and more: the page is among the first two', () => {
  const missed = QUESTIONS.filter(([query, ...pages]) => {
    const found = search(index, query).map(({ href }) => /^\/docs\/([\w-]+)/.exec(href)?.[1] ?? '');
    const firstTwo = [...new Set(found)].slice(0, 2);
    return !firstTwo.some((page) => pages.includes(page));
  });
  assert.equal(
    missed.map(([query]) => [
      query,
      search(index, query)
        .slice(0, 4)
        .map(({ href }) => href),
    ]),
    [],
  );
});

test('the last word may be half typed, and endings do not matter', () => {
  const small = buildIndex([
    { href: '/a', page: 'Keys', title: 'Rotating', text: 'A key is rotated with a grace period.' },
    { href: '/b', page: 'Files', title: 'Indexing', text: 'Folders are read.' },
  ]);
  const first = (query: string) => search(small, query)[0]?.href;
  assert.is(first('rotate keys'), '/a');
  assert.is(first('ind'), '/b');
  assert.is(first('ind rotate'), '/a', 'an earlier word is whole');
  assert.equal(search(small, 'nothing like it'), []);
  assert.equal(search(small, '  '), []);
  assert.equal(wordsOf('The keys, rotated'), ['key', 'rotat']);
});

test.run();
