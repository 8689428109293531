/** `svc help <topic>`: every page of the documentation, complete and as plain text. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { projectRoot } from '../../fixtures/paths.ts';
import { exitCodes } from '../exit.ts';
import { makePlace, run } from '../../fixtures/cli/run.ts';
import { readTopics } from './topics.ts';

const pages = readdirSync(join(projectRoot, 'docs'))
  .filter((file) => file.endsWith('.md') && file !== 'index.md')
  .map((file) => file.slice(0, -'.md'.length));

/** Fenced blocks, and text between backticks. */
const CODE = /^( *```)[^]*?^\1|(`+)[^`\n]+\2/gm;
const count = (text: string, part: string) => text.split(part).length - 1;

/** Returns the words of a text, without Markdown marks. */
const words = (text: string) => text.match(/[\p{L}\p{N}]+/gu) ?? [];

test('every page is a topic, and svc help all lists them', async () => {
  const place = makePlace();
  assert.equal(
    readTopics().map(({ name }) => name),
    pages.toSorted(),
  );
  const { code, stdout } = await run(place, ['help', 'all']);
  assert.is(code, 0);
  const listed = /^Topics\n((?: {2}.*\n)+)/m.exec(stdout)?.[1]?.trim().split(/,\s+/);
  assert.equal(listed, pages.toSorted());
  place.dispose();
});

test('a topic has every word of its page, without the Markdown syntax', async () => {
  const place = makePlace();
  for (const name of pages) {
    const { code, stdout, stderr } = await run(place, ['help', name]);
    assert.equal([code, stderr], [0, ''], name);
    const page = readFileSync(join(projectRoot, `docs/${name}.md`), 'utf8')
      .replaceAll(/<!--[^]*?-->/g, '')
      // A terminal shows no pictures.
      .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, '')
      .replaceAll(/\]\([^)\s]*\)/g, ']');
    const printed = new Set(words(stdout));
    const lost = words(page.replaceAll(/^ *```.*$/gm, '')).filter((word) => !printed.has(word));
    assert.equal(lost, [], name);
    assert.not.match(stdout, /^(?:#{1,6} |\|)|^```|&(?:amp|lt|gt|quot|#\d+);|\]\(/m, name);
    // Two stars are not a mark in code, where they stay: comments, file patterns.
    assert.is(
      count(stdout, '**'),
      count([...page.matchAll(CODE)].map(([block]) => block).join('\n'), '**'),
      name,
    );
  }
  place.dispose();
});

test('a command takes precedence over a topic, and an unknown name gets a suggestion', async () => {
  const place = makePlace();
  const page = /A record contains the client/;
  const both = await run(place, ['help', 'replay']);
  assert.match(both.stdout, /^svc replay list: /);
  assert.match(both.stdout, page);
  assert.not.match((await run(place, ['replay', '--help'])).stdout, page);
  const { code, stderr } = await run(place, ['help', 'compresion']);
  assert.is(code, exitCodes.usage);
  assert.match(stderr, 'did you mean `svc help compression`?');
  assert.match((await run(place, ['help', 'staus'])).stderr, 'did you mean `svc help status`?');
  place.dispose();
});

test.run();
