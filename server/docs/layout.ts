/**
 * The layout of a documentation page: header with search, pages by task, parts of this page, the
 * next page.
 */
import { ASSET_PATHS } from '../dashboard/shell.ts';
import { STYLE, escapeHtml } from '../openapi/html.ts';
import { START_PAGE, guideSections } from './guide.ts';
import type { Guide } from './guide.ts';

/** Content of the layout. */
export interface PageContent {
  readonly title: string;
  /** Name of the page; `api` is not a guide. */
  readonly name: string;
  readonly main: string;
  readonly parts: Guide['parts'];
}

/** The page about the HTTP API: not a guide, but listed as one. */
export const API_PAGE = 'api';
const API_SECTION = 'Reference';

export function guidePage(guide: Guide, guides: readonly Guide[]): string {
  const { title, name, html, parts } = guide;
  return renderPage({ title, name, main: html, parts }, guides);
}

export function renderPage(
  { title, name, main, parts }: PageContent,
  guides: readonly Guide[],
): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · svc</title>
<link rel="icon" href="${ASSET_PATHS.icon}" type="image/svg+xml">
<style>${STYLE}</style>
<script type="module" src="/docs/docs.js"></script>
<body class="docs">
<a class="skip" href="#text">Skip to the text</a>
<header>
<a class="home" href="/docs">svc</a>
<a class="menu" href="#pages">Pages</a>
<div class="search"><input id="search" type="search" placeholder="Search  ( / )" aria-label="Search the documentation" autocomplete="off" spellcheck="false"><div id="found" role="region" aria-label="Found" hidden></div></div>
<a href="/dashboard">Dashboard</a>
</header>
<nav id="pages" aria-label="Pages">
<a class="close" href="#text">Close</a>
${sidebar(guides, name)}
</nav>
<main id="text">
${main}${pageLinks(guides, name)}</main>
${contents(parts)}
</body>
</html>
`;
}

const hrefOf = (name: string): string => (name === START_PAGE ? '/docs' : `/docs/${name}`);

function sidebar(guides: readonly Guide[], current: string): string {
  const item = (name: string, title: string): string =>
    `<li><a href="${hrefOf(name)}"${name === current ? ' aria-current="page"' : ''}>${escapeHtml(title)}</a>`;
  return [...guideSections(guides)]
    .map(([section, pages]) => {
      const items = pages.map(({ name, title }) => item(name, title));
      if (section === API_SECTION) items.unshift(item(API_PAGE, 'HTTP interface'));
      return `<h2>${escapeHtml(section)}</h2>\n<ul>\n${items.join('\n')}\n</ul>`;
    })
    .join('\n');
}

/** Links to the previous and next page, in the order of the start page. */
function pageLinks(guides: readonly Guide[], current: string): string {
  const order = [...guideSections(guides).values()].flat();
  const at = order.findIndex(({ name }) => name === current);
  if (at < 0 && current !== START_PAGE) return '';
  const link = (guide: Guide | undefined, rel: string, word: string): string =>
    guide === undefined
      ? '<span></span>'
      : `<a rel="${rel}" href="${hrefOf(guide.name)}"><small>${word}</small> ${escapeHtml(guide.title)}</a>`;
  const before = at < 0 ? undefined : order[at - 1];
  return `<nav class="turns" aria-label="Before and after">${link(before, 'prev', 'Before')}${link(order[at + 1], 'next', 'Next')}</nav>\n`;
}

function contents(parts: Guide['parts']): string {
  if (parts.length < 2) return '';
  const items = parts.map(({ id, title }) => `<li><a href="#${id}">${escapeHtml(title)}</a>`);
  return `<nav id="parts" aria-label="On this page"><h2>On this page</h2>\n<ul>\n${items.join('\n')}\n</ul></nav>`;
}
