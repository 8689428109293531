/**
 * The Markdown of this repository as pages for `/docs/<name>`. Rendered by the build: the text is
 * our own and the program that users start needs no Markdown. Whatever could load or run something
 * (HTML, images, addresses other than https) stops the build.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked } from 'marked';
import type { Guide } from '../server/openapi/guide.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Pages beside those of `docs`, by their file. */
const OTHERS: ReadonlyMap<string, string> = new Map([
  ['README.md', 'readme'],
  ['SECURITY.md', 'promises'],
  ['CHANGELOG.md', 'changelog'],
  ['CONTRIBUTING.md', 'contributing'],
  ['bench/README.md', 'bench'],
  ['fixtures/README.md', 'fixtures'],
  ['examples/README.md', 'examples'],
  ['deploy/README.md', 'deploy'],
]);

/** Titles in the list of pages, where the heading means nothing or something else there. */
const TITLES: ReadonlyMap<string, string> = new Map([
  ['index', 'Overview'],
  ['readme', 'README'],
  ['promises', 'Security: what svc promises'],
  ['bench', 'Benchmarks: how it is measured'],
]);

/** Every file that becomes a page, with the page's name; those of `docs` first, its index ahead. */
export function guideFiles(): ReadonlyMap<string, string> {
  const names = namesIn('docs').toSorted(
    (a, b) => Number(b === 'index') - Number(a === 'index') || (a < b ? -1 : 1),
  );
  return new Map([
    ...names.map((name) => [`docs/${name}.md`, name] as const),
    ...OTHERS,
    ...namesIn('docs/contributing').map((name) => [`docs/contributing/${name}.md`, name] as const),
    ...namesIn('docs/decisions').map(
      (name) =>
        [
          `docs/decisions/${name}.md`,
          name === 'README' ? 'decisions' : `decision-${name}`,
        ] as const,
    ),
  ]);
}

function namesIn(folder: string): readonly string[] {
  return readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.slice(0, -'.md'.length))
    .toSorted();
}

/** All pages, rendered. Throws for a link to a file that is no page, and for what a page may not hold. */
export function renderGuides(): Guide[] {
  const files = guideFiles();
  return [...files].map(([file, name]) => renderGuide(file, name, files));
}

function renderGuide(file: string, name: string, files: ReadonlyMap<string, string>): Guide {
  const markdown = readFileSync(join(root, file), 'utf8');
  const seen = new Map<string, number>();
  const refuse = (what: string): never => {
    throw new Error(`${file}: ${what}`);
  };
  const marked = new Marked({
    renderer: {
      heading: (html, level, raw) =>
        `<h${level} id="${headingId(raw, seen)}">${html}</h${level}>\n`,
      html: (html) => (/^<!--[^]*-->\s*$/.test(html) ? '' : refuse(`HTML is not allowed: ${html}`)),
      image: (href) => refuse(`images are not allowed: ${href ?? ''}`),
      link: (href, _title, html) => `<a href="${address(href, file, files, refuse)}">${html}</a>`,
      table: (header, body) =>
        `<div class="wide"><table><thead>${header}</thead><tbody>${body}</tbody></table></div>\n`,
      tablecell: (html, { header }) =>
        header ? `<th scope="col">${html}</th>` : `<td>${html}</td>`,
    },
  });
  const title = TITLES.get(name) ?? /^# (.+)$/m.exec(markdown)?.[1] ?? refuse('it has no title');
  return { name, title, html: marked.parse(markdown, { async: false }) as string };
}

/** The id of a heading as code hosts make it: `## What it costs` is `#what-it-costs`. */
export function headingId(heading: string, seen: Map<string, number>): string {
  const id = heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
  const count = seen.get(id) ?? 0;
  seen.set(id, count + 1);
  return count === 0 ? id : `${id}-${count}`;
}

function address(
  href: string,
  file: string,
  files: ReadonlyMap<string, string>,
  refuse: (what: string) => never,
): string {
  if (/^#[\w-]+$/.test(href)) return href;
  if (/^https:\/\/[^"<>\s]+$/.test(href)) return href;
  const [path = '', anchor] = href.split('#', 2);
  const page = files.get(normalize(join(dirname(file), path)));
  if (page === undefined) return refuse(`the link ${href} leads to no page`);
  return `/docs/${page}${anchor === undefined ? '' : `#${anchor}`}`;
}
