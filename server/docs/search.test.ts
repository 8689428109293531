/**
 * Questions from people who have never seen the pages: the right page is among the first two
 * results.
 */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { madeByBuild } from '../http/made-by-build.ts';
import { buildIndex, search, wordsOf } from './search.ts';
import type { PageText, SearchIndex } from './search.ts';

const index = JSON.parse(readFileSync(madeByBuild('docs-index.json'), 'utf8')) as SearchIndex;

/** A query, and the pages that answer it. */
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
  // In the words of people who have read none of the pages.
  ['how do I install svc', 'readme'],
  ['where is my data stored', 'settings', 'security'],
  ['does svc send my prompts anywhere', 'security', 'promises', 'readme'],
  ['use my claude max subscription', 'clients', 'compression', 'forward-mode'],
  ['codex config.toml', 'clients'],
  ['too many requests 429', 'troubleshooting', 'providers'],
  ['slow first token', 'troubleshooting', 'benchmarks'],
  ['openai compatible endpoint', 'clients', 'providers', 'adapters'],
  ['add gemini', 'providers', 'clients'],
  ['switch off for one request', 'switching', 'compression', 'readme'],
  ['see what was removed from a tool result', 'compression'],
  ['how much money did I save', 'figures', 'readme', 'dashboard'],
  ['monthly limit per team member', 'security', 'providers', 'settings'],
  ['slack notification when it fails', 'alerts'],
  ['start at boot', 'deploy', 'troubleshooting'],
  ['behind https domain', 'reverse-proxy', 'deploy'],
  ['uninstall', 'troubleshooting', 'commands'],
  ['upgrade to new version', 'index', 'changelog', 'contributing', 'commands', 'troubleshooting'],
  ['python client library', 'adapters'],
  ['langchain', 'adapters', 'clients'],
  ['search my own code', 'vault'],
  ['shorten pytest output', 'recipes', 'compression', 'first-recipe'],
  ['hide secrets from provider', 'plugins', 'examples', 'security'],
  ['retry when provider is down', 'providers'],
  ['what does saved percent mean', 'figures'],
  ['prometheus metrics', 'deploy', 'figures', 'dashboard'],
  ['vscode copilot', 'clients'],
  ['certificate error', 'forward-mode', 'troubleshooting'],
  ['delete logs and captures', 'security', 'replay', 'settings'],
  ['change the port', 'settings', 'troubleshooting'],
  ['log level', 'settings', 'figures'],
  ['cursor does not connect', 'troubleshooting', 'clients'],
  ['status bar tmux', 'statusline'],
  ['lower cost with cheaper model', 'providers'],
  ['json schema of config', 'settings'],
  ['is it safe', 'security', 'promises'],
  ['api documentation', 'api'],
  ['local model llama.cpp', 'providers', 'clients'],
  ['phone access dashboard', 'dashboard', 'security'],
  ['why was my cache missed', 'cache-misses'],
  ['how do I stop it', 'readme', 'commands', 'troubleshooting', 'switching'],
  ['does it work with windows', 'readme'],
  ['which models are supported', 'providers', 'clients', 'settings'],
  ['set api key for openai', 'providers', 'settings', 'clients'],
  ['model gives worse answers since using svc', 'troubleshooting', 'compression', 'switching'],
  ['share one proxy with my team', 'deploy', 'security', 'fleet'],
  ['what gets logged', 'security', 'figures', 'settings', 'promises'],
  ['claude code statusline cost', 'statusline'],
  ['daily budget exceeded 402', 'troubleshooting', 'providers', 'settings'],
  ['reset the cache', 'providers', 'cache-misses', 'commands', 'settings'],
  ['run as systemd service', 'deploy'],
  ['stream events over websocket', 'websocket'],
  ['make my own compression rule', 'recipes', 'first-recipe'],
  ['export requests as csv', 'figures', 'commands'],
  ['who used the most money', 'figures', 'readme', 'commands', 'dashboard'],
  ['test my plugin', 'first-stage', 'plugins'],
  ['answer from cache instead of provider', 'providers', 'settings'],
  ['give the model my project docs', 'vault'],
  ['corporate proxy', 'forward-mode', 'troubleshooting', 'settings', 'providers', 'security'],
  ['how does it decide what to remove', 'compression', 'decision-causal-rule', 'architecture'],
  ['use gpt from claude code', 'providers', 'clients'],
  ['reload config without restart', 'settings', 'troubleshooting', 'commands'],
  ['claude code says 400 thinking block', 'switching', 'troubleshooting'],
  ['thinking block', 'switching'],
  ['upgrade from 0.5', 'changelog'],
  ['docker install', 'deploy'],
  ['block a model for interns', 'security'],
  ['what does degraded mean', 'troubleshooting', 'dashboard'],
  ['why is claude slow through the proxy', 'troubleshooting', 'benchmarks'],
  ['set different budget for each person', 'security', 'settings', 'providers'],
  ['can I use it offline', 'readme'],
  ['does caching still work with svc', 'cache-misses', 'compression'],
  ['my answers are cut off in the middle', 'troubleshooting', 'providers'],
  ['send easy questions to a cheaper model', 'providers'],
];

const MAX_MISSED = 2;

test("a new user's question finds its page among the first two results", () => {
  const missed = QUESTIONS.filter(([query, ...pages]) => {
    const found = search(index, query).map(({ href }) => /^\/docs\/([\w-]+)/.exec(href)?.[1] ?? '');
    const firstTwo = [...new Set(found)].slice(0, 2);
    return !firstTwo.some((page) => pages.includes(page));
  });
  const found = missed.map(([query]) => [query, ...search(index, query).map(({ href }) => href)]);
  // Rewriting a page may cost one or two questions their rank, no more.
  assert.ok(
    missed.length <= MAX_MISSED,
    found.map((question) => question.slice(0, 5).join(' ')).join('\n'),
  );
});

test('the last word may be incomplete, and word endings do not matter', () => {
  const page = (href: string, title: string, part: string, text: string): PageText => ({
    title,
    about: '',
    alsoCalled: '',
    isForMaintainers: false,
    parts: [{ href, page: title, title: part, text }],
  });
  const small = buildIndex([
    page('/a', 'Keys', 'Rotating', 'A key is rotated with a grace period.'),
    { ...page('/b', 'Files', 'Indexing', 'Folders are read.'), alsoCalled: 'search my code' },
    { ...page('/c', 'Decision', 'Indexing', 'Folders are read.'), isForMaintainers: true },
  ]);
  const first = (query: string) => search(small, query)[0]?.href;
  assert.is(first('rotate keys'), '/a');
  assert.is(first('ind'), '/b');
  assert.is(first('ind rotate'), '/a', 'an earlier word is whole');
  assert.is(first('code'), '/b', 'by a word that is not on the page');
  assert.equal(
    search(small, 'indexing').map(({ href }) => href),
    ['/b', '/c'],
    'what users look for goes first',
  );
  assert.equal(search(small, 'nothing like it'), []);
  assert.equal(search(small, '  '), []);
  assert.equal(wordsOf('The keys, rotated'), ['key', 'rotat']);
});

test.run();
