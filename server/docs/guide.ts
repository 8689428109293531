/** The documentation in the build output: pages rendered from their Markdown files, by task. */
import { readFile } from 'node:fs/promises';
import { madeByBuild } from '../http/made-by-build.ts';

/** A rendered page. `html` is safe by construction: `.ci/guides.ts` admits no foreign HTML. */
export interface Guide {
  /** The last part of its path. */
  readonly name: string;
  /** Its Markdown file, relative to the package root. */
  readonly file: string;
  readonly title: string;
  /**
   * The section of the start page that lists it, and its title there; absent for a page reached
   * from another one.
   */
  readonly section?: string;
  readonly about?: string;
  readonly html: string;
  /** Its second-level headings, by id. */
  readonly parts: readonly { readonly id: string; readonly title: string }[];
  /** Files of `docs/pictures` that it shows. */
  readonly pictures: readonly string[];
}

/** File in the build output, next to the bundled program. */
export const GUIDES_FILE = 'guides.json';

/** The page that `/docs` shows. */
export const START_PAGE = 'index';

/** Reads all pages. Rejects if the program was not bundled. */
export async function readGuides(): Promise<readonly Guide[]> {
  const text = await readFile(madeByBuild(GUIDES_FILE), 'utf8');
  return JSON.parse(text) as readonly Guide[];
}

/** Returns the pages by section, in the order of the start page, without the start page. */
export function guideSections(guides: readonly Guide[]): ReadonlyMap<string, readonly Guide[]> {
  const sections = new Map<string, Guide[]>();
  for (const guide of guides) {
    if (guide.section === undefined) continue;
    sections.set(guide.section, [...(sections.get(guide.section) ?? []), guide]);
  }
  return sections;
}

/** Returns the URL of `path` in the package. */
const inPackage = (path: string): URL => new URL(`../../${path}`, madeByBuild(GUIDES_FILE));

/** Returns the bytes of a picture; undefined for a name that no page shows. */
export async function readPicture(
  name: string,
  guides: readonly Guide[],
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (!guides.some(({ pictures }) => pictures.includes(name))) return undefined;
  return new Uint8Array(await readFile(inPackage(`docs/pictures/${name}`)));
}

/**
 * Returns the Markdown of `guide`, with links to other pages and pictures as this proxy serves
 * them.
 */
export async function readMarkdown(guide: Guide, guides: readonly Guide[]): Promise<string> {
  const written = await readFile(inPackage(guide.file), 'utf8');
  const text = written.replaceAll(
    /\]\((?:[\w./-]{1,80}\/)?pictures\/([\w.-]{1,80})\)/g,
    '](/docs/$1)',
  );
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

/** Returns `/docs/llms.txt`, which lists every page with a line about it, for programs. */
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
