/** The documentation as the build leaves it: pages rendered from their Markdown files, by task. */
import { readFile } from 'node:fs/promises';
import { madeByBuild } from '../http/made-by-build.ts';

/** A rendered page. `html` is safe by its making: `.ci/guides.ts` lets no foreign HTML into it. */
export interface Guide {
  /** The last part of its path. */
  readonly name: string;
  /** Its Markdown file, from the root of the package. */
  readonly file: string;
  readonly title: string;
  /** The task under which the start page lists it, and in which words; none for one that another page leads to. */
  readonly section?: string;
  readonly about?: string;
  readonly html: string;
  /** Its headings of the second level, by id. */
  readonly parts: readonly { readonly id: string; readonly title: string }[];
}

/** File that the build leaves beside the bundled program. */
export const GUIDES_FILE = 'guides.json';

/** The page that `/docs` shows. */
export const START_PAGE = 'index';

/** Reads all pages. Rejects where the program was not bundled. */
export async function readGuides(): Promise<readonly Guide[]> {
  const text = await readFile(madeByBuild(GUIDES_FILE), 'utf8');
  return JSON.parse(text) as readonly Guide[];
}

/** Pages by their task, in the order of the start page, which is not among them. */
export function guideSections(guides: readonly Guide[]): ReadonlyMap<string, readonly Guide[]> {
  const sections = new Map<string, Guide[]>();
  for (const guide of guides) {
    if (guide.section === undefined) continue;
    sections.set(guide.section, [...(sections.get(guide.section) ?? []), guide]);
  }
  return sections;
}

/** The Markdown of `guide`, with links to other pages as this proxy serves them. */
export async function readMarkdown(guide: Guide, guides: readonly Guide[]): Promise<string> {
  const text = await readFile(new URL(`../../${guide.file}`, madeByBuild(GUIDES_FILE)), 'utf8');
  const names = new Map(guides.map(({ file, name }) => [file, name]));
  return text.replaceAll(
    /\]\(([^()\s#]{1,120}\.md)(#[\w-]{1,120})?\)/g,
    (whole, path: string, anchor = '') => {
      const target = new URL(path, `file:///${guide.file}`).pathname.slice(1);
      const name = names.get(target);
      return name === undefined ? whole : `](/docs/${name}.md${anchor})`;
    },
  );
}

/** What programs read first (`/docs/llms.txt`): every page with a line about it. */
export function llmsText(guides: readonly Guide[]): string {
  const sections = [...guideSections(guides)].map(([section, pages]) => {
    const lines = pages.map(({ name, title, about }) => `- [${title}](/docs/${name}.md): ${about}`);
    return `## ${section}\n\n${lines.join('\n')}\n`;
  });
  return `# svc

> A local proxy between AI clients and model providers: it makes requests smaller without harming answers,
> keeps going when a provider fails, and shows what it did and what that saved.

Every page is Markdown at its address with \`.md\`; the HTTP interface is \`/openapi.yaml\`.

${sections.join('\n')}`;
}
