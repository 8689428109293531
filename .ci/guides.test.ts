/** The documents: every link has a target, every command in them exists, and the pages are safe. */
import * as fs from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { allDefinitions } from '../cli/parse/definitions.ts';
import { optionNames, pathOf } from '../cli/parse/syntax.ts';
import { projectRoot } from '../fixtures/paths.ts';
import { guideFiles, headingId, renderGuides } from './guides.ts';
import { API_PAGE } from '../server/docs/layout.ts';
import { SEARCH_WORDS } from './search-words.ts';
import { readTopics } from './topics.ts';

const files = [...guideFiles().keys()];
/** Documents for developers of svc, including those that are not pages. */
const maintained = [
  ...files.filter((file) => /^(?:CONTRIBUTING|examples|deploy|docs\/[^/]+\/)/.test(file)),
  ...['.github', '.github/ISSUE_TEMPLATE'].flatMap(pagesIn),
];
const textOf = (file: string) => fs.readFileSync(join(projectRoot, file), 'utf8');

function pagesIn(folder: string): readonly string[] {
  const names = fs.readdirSync(join(projectRoot, folder));
  return names.filter((name) => name.endsWith('.md')).map((name) => `${folder}/${name}`);
}

/** Returns the text without code blocks, whose `#` and brackets mean other things. */
const proseOf = (file: string) => textOf(file).replaceAll(/^```[^]*?^```/gm, '');

function anchorsOf(file: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const headings = [...proseOf(file).matchAll(/^#+ (.+)$/gm)].map(([, text]) => text!);
  return new Set(headings.map((text) => headingId(text, seen)));
}

test('every link leads to an existing file, and every anchor to a heading in it', () => {
  for (const file of [...files, ...maintained]) {
    for (const [, href] of proseOf(file).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (href!.startsWith('https:')) continue;
      const [path = '', anchor] = href!.split('#', 2);
      const target = path === '' ? file : normalize(join(dirname(file), path));
      assert.ok(fs.existsSync(join(projectRoot, target)), `${file}: ${href}`);
      if (anchor !== undefined) assert.ok(anchorsOf(target).has(anchor), `${file}: ${href}`);
    }
  }
});

test('every page of docs is in its index, and every file that a document names exists', () => {
  const index = textOf('docs/index.md');
  for (const file of files.filter((one) => /^docs\/(?!index)[^/]+$/.test(one)))
    assert.ok(
      index.includes(`](${file.slice('docs/'.length)})`),
      `${file} is not in docs/index.md`,
    );
  const folders = 'engine|stages|plugins|server|cli|fixtures|bench|docs|examples|deploy|\\.ci';
  const named = new RegExp(`\`((?:${folders})/[\\w./-]*)\``, 'g');
  for (const file of [
    'README.md',
    ...files.filter((one) => one.startsWith('docs/')),
    ...maintained,
  ])
    for (const [, path] of proseOf(file).matchAll(named))
      assert.ok(fs.existsSync(join(projectRoot, path!)), `${file}: ${path}`);
});

test('every page of docs starts with its purpose and soon shows a command or a file', () => {
  for (const file of files.filter((one) => /^docs\/[^/]+$/.test(one))) {
    const [, opening = ''] = /^# .+\n\n([^]*?)(?=^## |$(?![^]))/m.exec(textOf(file)) ?? [];
    assert.match(opening, /^[A-Z`[]/, `${file} begins with a sentence`);
    assert.match(opening, /^```(?:sh)?\n(?:svc|npm|curl|node|openssl|docker)\b/m, file);
    const at = opening.search(/^```/m);
    assert.ok(opening.slice(0, at).split('\n').length < 12, `${file}: the command comes late`);
  }
});

test('every page is built, and has nothing that a browser would load or run', () => {
  const pages = renderGuides();
  assert.is(pages.length, files.length);
  for (const { name, html } of pages) {
    assert.not.match(html, /<(?:script|iframe|object|style|link|form|input)\b|\son\w+=/i, name);
    for (const [whole] of html.matchAll(/<img\b[^>]*>/g))
      assert.match(
        whole,
        /^<img src="\/docs\/[\w-]+\.(?:svg|webp)" alt="[^"]{10,}" loading="lazy">$/,
      );
    for (const [, href] of html.matchAll(/href="([^"]*)"/g))
      assert.match(href!, /^(?:#[\w-]+|https:\/\/\S+|\/docs\/[\w-]+(?:#[\w-]+)?)$/, name);
    // Links in headings point to the headings themselves.
    for (const [, id] of html.matchAll(/href="#([^"]+)"/g))
      assert.ok(html.includes(`id="${id}"`), `${name}: #${id}`);
  }
});

/** All together, since every clone and every installation downloads them. */
const MAX_PICTURE_BYTES = 400_000;

test('every picture is local, small, used by a page, and free of hidden data', () => {
  const folder = join(projectRoot, 'docs/pictures');
  const names = fs.readdirSync(folder).toSorted();
  const shown = new Set(renderGuides().flatMap(({ pictures }) => pictures));
  assert.equal([...shown].toSorted(), names);
  const sizes = names.map((name) => fs.statSync(join(folder, name)).size);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(total < MAX_PICTURE_BYTES, `${total} bytes`);
  for (const name of names.filter((one) => one.endsWith('.svg'))) {
    const text = fs.readFileSync(join(folder, name), 'utf8');
    // The SVG namespace, and the address of the proxy in the picture.
    const known = /http:\/\/(?:www\.w3\.org\/2000\/svg|127\.0\.0\.1:\d+)/g;
    assert.not.match(
      text.replaceAll(known, ''),
      /https?:|<script|<style|href|url\(|\son\w+=/i,
      name,
    );
    assert.not.match(text, /\/(?:home|root|tmp|work|Users)\/|svc_[\w-]{20,}|[0-9a-f]{32}/, name);
  }
  for (const name of names.filter((one) => one.endsWith('.webp')))
    assert.is(fs.readFileSync(join(folder, name)).toString('latin1', 8, 12), 'WEBP', name);
});

test('every search word leads to an existing page', () => {
  const names = new Set([...renderGuides().map(({ name }) => name), API_PAGE]);
  assert.equal(
    [...SEARCH_WORDS.keys()].filter((name) => !names.has(name)),
    [],
  );
});

test('every command named in a text exists, with its options', async () => {
  const definitions = await allDefinitions();
  const paths = definitions.map((one) => ({ one, path: pathOf(one) }));
  const topics = new Set(['all', '<topic>', ...readTopics().map(({ name }) => name)]);
  for (const file of [...files.filter((one) => one !== 'CHANGELOG.md'), ...maintained]) {
    // The generated table repeats the settings' own text.
    const text = proseOf(file).replace(/<!-- settings:begin -->[^]*<!-- settings:end -->/, '');
    for (const [, typed] of text.matchAll(/`svc ([a-z][^`]*)`/g)) {
      const words = typed!.split(/\s+/);
      // `help` has no entry of its own: it shows the help of others, and these documents.
      if (words[0] === 'help') {
        const [, name = '<topic>'] = words;
        assert.ok(topics.has(name), `${file}: svc ${typed}`);
        continue;
      }
      const found = paths
        .filter(({ path }) => path.every((word, at) => words[at]?.split('|').includes(word)))
        .toSorted((a, b) => b.path.length - a.path.length)[0];
      assert.ok(found, `${file}: svc ${typed}`);
      if (words[0] === 'run') continue;
      const known = new Set(optionNames(found.one));
      for (const option of words.filter((word) => word.startsWith('--')))
        assert.ok(known.has(option.split('=')[0]!) || option === '--help', `${file}: ${typed}`);
    }
  }
});

test('every npm script named in a text exists, and so does every test path passed to it', () => {
  const { scripts } = JSON.parse(textOf('package.json')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const tests = fs
    .readdirSync(projectRoot, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules'));
  for (const file of [...files, ...maintained]) {
    for (const [typed, run, name] of textOf(file).matchAll(/\bnpm (run )?([\w:-]+)/g)) {
      if (run === undefined && !['test', 'start'].includes(name!)) continue;
      // Old entries may name scripts that no longer exist.
      if (file !== 'CHANGELOG.md') assert.ok((name ?? '') in scripts, `${file}: ${typed}`);
    }
    for (const [typed, parts] of textOf(file).matchAll(/npm run test:one -- ([\w./ -]+)/g))
      for (const part of parts!.trim().split(' '))
        assert.ok(
          tests.some((path) => path.includes(part)),
          `${file}: ${typed}`,
        );
  }
});

test('every decision has a subject and four sections, and is in the list', () => {
  const [list = '', ...pages] = pagesIn('docs/decisions').toSorted(
    (a, b) => Number(b.endsWith('README.md')) - Number(a.endsWith('README.md')),
  );
  assert.ok(pages.length > 0);
  for (const page of pages) {
    assert.ok(textOf(list).includes(`](${page.slice('docs/decisions/'.length)})`), page);
    assert.match(textOf(page), /^# .+\n\n\d{4}-\d\d-\d\d/, `${page} has a date`);
    const parts = [...textOf(page).matchAll(/^## (.+)$/gm)].map(([, part]) => part);
    assert.equal(parts, ['Context', 'Decision', 'Consequence'], page);
  }
});

test('the package contains the documents', () => {
  const { files: listed } = JSON.parse(textOf('package.json')) as { files?: readonly string[] };
  if (listed !== undefined)
    assert.ok(
      listed.some((one) => /^\/?docs\b/.test(one)),
      'files has no docs',
    );
});

test.run();
