/**
 * Renders the Markdown of this repository as pages for `/docs/<name>`. This happens in the build,
 * so that the program needs no Markdown. Anything that could run code or load it from elsewhere
 * (HTML, pictures outside `docs/pictures`, URLs other than https) fails the build.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked } from 'marked';
import type { Guide } from '../server/docs/guide.ts';
import { API_PAGE } from '../server/docs/layout.ts';
import { buildIndex } from '../server/docs/search.ts';
import type { PageText, SearchIndex } from '../server/docs/search.ts';
import { SEARCH_WORDS } from './search-words.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Pages besides those of `docs`, by file. */
const OTHER_PAGES: ReadonlyMap<string, string> = new Map([
  ['README.md', 'readme'],
  ['SECURITY.md', 'promises'],
  ['CHANGELOG.md', 'changelog'],
  ['CONTRIBUTING.md', 'contributing'],
  ['bench/README.md', 'bench'],
  ['fixtures/README.md', 'fixtures'],
  ['examples/README.md', 'examples'],
  ['deploy/README.md', 'deploy'],
]);

/**
 * Returns every file that becomes a page, with the page's name; those of `docs` first, starting
 * with its index.
 */
export function guideFiles(): ReadonlyMap<string, string> {
  const names = namesIn('docs').toSorted(
    (a, b) => Number(b === 'index') - Number(a === 'index') || (a < b ? -1 : 1),
  );
  return new Map([
    ...names.map((name) => [`docs/${name}.md`, name] as const),
    ...OTHER_PAGES,
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

/** A page's entry on the start page. */
interface Listed {
  readonly section: string;
  readonly title: string;
  readonly about: string;
}

/** Returns the rows of `docs/index.md` by file, in its order; its headings are the tasks. */
function listedPages(): ReadonlyMap<string, Listed> {
  const listed = new Map<string, Listed>();
  let section = '';
  for (const line of readFileSync(join(root, 'docs/index.md'), 'utf8').split('\n')) {
    section = /^## (.+)$/.exec(line)?.[1] ?? section;
    const [, title, path, about] = /^\| \[(.+?)\]\((.+?)\) \| (.+) \|$/.exec(line) ?? [];
    if (title === undefined || path === undefined || about === undefined) continue;
    listed.set(normalize(join('docs', path)), { section, title, about });
  }
  return listed;
}

/**
 * Returns all pages, rendered, in the order of the start page. Throws for a link to a file that is
 * not a page, and for content that a page may not contain.
 */
export function renderGuides(): Guide[] {
  const files = guideFiles();
  const listed = listedPages();
  const order = [...listed.keys(), ...[...files.keys()].filter((file) => !listed.has(file))];
  return order.map((file) => {
    const name = files.get(file);
    if (name === undefined) throw new Error(`docs/index.md: ${file} is not a page`);
    return { ...renderGuide(file, name, files), ...listed.get(file) };
  });
}

function renderGuide(file: string, name: string, files: ReadonlyMap<string, string>): Guide {
  const markdown = readFileSync(join(root, file), 'utf8');
  const seen = new Map<string, number>();
  const parts: { id: string; title: string }[] = [];
  const pictures: string[] = [];
  const refuse = (what: string): never => {
    throw new Error(`${file}: ${what}`);
  };
  const marked = new Marked({
    renderer: {
      heading: (html, level, raw) => {
        const id = headingId(raw, seen);
        if (level === 2) parts.push({ id, title: plainText(html) });
        const anchor = `<a class="anchor" href="#${id}" aria-label="Link to this part">#</a>`;
        return `<h${level} id="${id}">${html}${level === 1 ? '' : anchor}</h${level}>\n`;
      },
      html: (html) => (/^<!--[^]*-->\s*$/.test(html) ? '' : refuse(`HTML is not allowed: ${html}`)),
      image: (href, _title, words) => {
        const picture = pictureName(href, file);
        if (picture === undefined) return refuse(`the picture ${href} is not in docs/pictures`);
        if (words === '') return refuse(`the picture ${href} does not say what it shows`);
        pictures.push(picture);
        return `<img src="/docs/${picture}" alt="${words}" loading="lazy">`;
      },
      link: (href, _title, html) => `<a href="${address(href, file, files, refuse)}">${html}</a>`,
      table: (header, body) =>
        `<div class="wide"><table><thead>${header}</thead><tbody>${body}</tbody></table></div>\n`,
      // A header cell without words becomes a plain cell.
      tablecell: (html, { header }) =>
        header && html !== ''
          ? `<th scope="col">${html}</th>`
          : `<td${DAY.test(html) ? ' class="day"' : ''}>${html}</td>`,
    },
  });
  const title = /^# (.+)$/m.exec(markdown)?.[1] ?? refuse('it has no title');
  // Wide content must be scrollable by keyboard too; any `<` in the text is already escaped.
  const html = (marked.parse(markdown, { async: false }) as string).replaceAll(
    /<(pre|div class="wide")>/g,
    '<$1 tabindex="0">',
  );
  return { name, file, title, html, parts, pictures };
}

/** Returns the name of a picture of this repository; undefined for anything else. */
function pictureName(href: string, file: string): string | undefined {
  const path = normalize(join(dirname(file), href));
  const [, name] = /^docs\/pictures\/([\w-]+\.(?:svg|webp))$/.exec(path) ?? [];
  return name !== undefined && existsSync(join(root, path)) ? name : undefined;
}

/** A date alone in a cell, which must not break at its hyphens. */
const DAY = /^\d{4}-\d\d-\d\d$/;

const CHANGELOG = 'changelog';
/** Pages whose text is not searched: lists of the other pages, or of what once was. */
const NOT_SEARCHED = new Set([CHANGELOG, 'index']);

/** Returns the search index of the pages: one part per heading of level two or three. */
export function indexGuides(guides: readonly Guide[]): SearchIndex {
  const searched = guides.filter(({ name }) => !NOT_SEARCHED.has(name));
  return buildIndex([
    ...searched.map((guide) => pageText(guide.name, guide.title, guide.about, guide)),
    pageText(API_PAGE, 'HTTP interface', 'every path that the proxy answers itself'),
    // Its old entries would be found before current information, so only its title is.
    pageText(CHANGELOG, 'Changelog', 'what changed, and what to do when upgrading'),
  ]);
}

/** Pages for developers of svc. */
const MAINTAINED =
  /^(?:CONTRIBUTING|bench\/|fixtures\/|docs\/(?:architecture\.md|contributing\/|decisions\/))/;

/** Returns the searchable text; for a page without a `guide` only the words of its title. */
function pageText(name: string, title: string, about = '', guide?: Guide): PageText {
  const href = `/docs/${name}`;
  return {
    title,
    about,
    alsoCalled: SEARCH_WORDS.get(name) ?? '',
    isForMaintainers: guide !== undefined && MAINTAINED.test(guide.file),
    parts:
      guide === undefined
        ? [{ href, page: title, title, text: about }]
        : guide.html.split(/(?=<h[23] id=)/).map((part) => {
            const [, id, heading] =
              /^<h[23] id="([^"]+)">([^]*?)<a class="anchor"/.exec(part) ?? [];
            return {
              href: `${href}${id === undefined ? '' : `#${id}`}`,
              page: title,
              title: heading === undefined ? title : plainText(heading),
              text: plainText(part.replace(/^<h\d[^]*?<\/h\d>/, '')),
            };
          }),
  };
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
};

function plainText(html: string): string {
  return html
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => ENTITIES[entity] ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** Returns a heading's id as code hosts form it: `## What it costs` is `#what-it-costs`. */
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
  if (page === undefined) return refuse(`the link ${href} does not lead to a page`);
  return `/docs/${page}${anchor === undefined ? '' : `#${anchor}`}`;
}
