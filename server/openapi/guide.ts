/** `/docs/<name>`: a page of the documentation, rendered by the build from its Markdown file. */
import { readFile } from 'node:fs/promises';
import { madeByBuild } from '../http/made-by-build.ts';
import { escaped } from './html.ts';

/** A rendered page. `html` is safe by its making: `.ci/guides.ts` lets no foreign HTML into it. */
export interface Guide {
  /** The last part of its path. */
  readonly name: string;
  readonly title: string;
  readonly html: string;
}

/** File that the build leaves beside the bundled program. */
export const GUIDES_FILE = 'guides.json';

/** Reads all pages. Rejects where the program was not bundled. */
export async function readGuides(): Promise<readonly Guide[]> {
  const text = await readFile(madeByBuild(GUIDES_FILE), 'utf8');
  return JSON.parse(text) as readonly Guide[];
}

/** Links to all pages; the one named `current` is marked. */
export function guideLinks(guides: readonly Guide[], current?: string): string {
  const links = guides.map(({ name, title }) => {
    const mark = name === current ? ' aria-current="page"' : '';
    return `<li><a href="/docs/${name}"${mark}>${escaped(title)}</a>`;
  });
  return `<nav aria-label="Guides"><ul>\n${links.join('\n')}\n</ul></nav>`;
}

/** The page of `guide`, as a document with `style`. */
export function guidePage(guide: Guide, guides: readonly Guide[], style: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>svc: ${escaped(guide.title)}</title>
<style>${style}</style>
<body>
<details class="guides"><summary>All pages</summary>
${guideLinks(guides, guide.name)}
<p><a href="/docs">API</a>
</details>
<main>
${guide.html}</main>
</body>
</html>
`;
}
