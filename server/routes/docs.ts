/**
 * `/docs`: the documentation; `/docs/<name>` a page of it, `/docs/<name>.md` the same as Markdown,
 * `/docs/<name>.webp` a picture, `/docs/api` and `/openapi.yaml` the HTTP interface of this proxy.
 * Each is created on first request.
 */
import { readFile } from 'node:fs/promises';
import { notFound } from '../../stages/model/errors.ts';
import { START_PAGE, llmsText, readGuides, readMarkdown, readPicture } from '../docs/guide.ts';
import type { Guide } from '../docs/guide.ts';
import { madeByBuild } from '../http/made-by-build.ts';
import { get } from '../http/router.ts';
import type { Route } from '../http/router.ts';

/** Build files that the pages load, by the name used in their URL. */
const LOADED: ReadonlyMap<string, { readonly file: string; readonly type: string }> = new Map([
  ['docs.js', { file: 'docs-page.js', type: 'text/javascript; charset=utf-8' }],
  ['search.json', { file: 'docs-index.json', type: 'application/json' }],
]);

/** Pictures of pages, by the end of their name. */
const PICTURES: ReadonlyMap<string, string> = new Map([
  ['svg', 'image/svg+xml'],
  ['webp', 'image/webp'],
]);
/** A picture that is opened by itself runs and loads nothing. */
const PICTURE_POLICY = { 'Content-Security-Policy': "default-src 'none'" };

const MARKDOWN = 'text/markdown; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';

export function docsRoutes(version: string): Route[] {
  let guides: Promise<readonly Guide[]> | undefined;
  let yaml: Promise<string> | undefined;

  async function pageHtml(name: string, all: readonly Guide[]): Promise<string> {
    const { API_PAGE, guidePage } = await import('../docs/layout.ts');
    if (name === API_PAGE) return (await import('../openapi/page.ts')).apiPage(version, all);
    return guidePage(findGuide(name, all), all);
  }

  async function makeYaml() {
    const [{ openApiDocument }, { stringify }] = await Promise.all([
      import('../openapi/document.ts'),
      import('yaml'),
    ]);
    return stringify(openApiDocument(version), { aliasDuplicateObjects: false });
  }

  async function servePage(name: string): Promise<Response> {
    const loaded = LOADED.get(name);
    if (loaded !== undefined) return answer(await readFile(madeByBuild(loaded.file)), loaded.type);
    const all = await (guides ??= readGuides());
    if (name === 'llms.txt') return answer(llmsText(all), TEXT);
    if (name.endsWith('.md'))
      return answer(
        await readMarkdown(findGuide(name.slice(0, -'.md'.length), all), all),
        MARKDOWN,
      );
    const picture = PICTURES.get(name.split('.')[1] ?? '');
    if (picture !== undefined) {
      const bytes = await readPicture(name, all);
      if (bytes === undefined) throw notFound('There is no picture of this name');
      return answer(bytes, picture, PICTURE_POLICY);
    }
    const html = await pageHtml(name, all);
    const { PAGE_POLICY } = await import('../openapi/html.ts');
    return answer(html, 'text/html; charset=utf-8', { 'Content-Security-Policy': PAGE_POLICY });
  }

  const start = () => servePage(START_PAGE);
  return [
    get('/docs', start, 'everybody'),
    get('/docs/', start, 'everybody'),
    get('/docs/:page', (_request, { params: { page = '' } }) => servePage(page)),
    get(
      '/openapi.yaml',
      async () =>
        new Response(await (yaml ??= makeYaml()), {
          headers: { 'Content-Type': 'application/yaml; charset=utf-8' },
        }),
      'everybody',
    ),
  ];
}

function answer(
  body: string | Uint8Array<ArrayBuffer>,
  type: string,
  more: Readonly<Record<string, string>> = {},
): Response {
  const fields = { 'Content-Type': type, 'Referrer-Policy': 'no-referrer', ...more };
  return new Response(body, { headers: fields });
}

function findGuide(name: string, guides: readonly Guide[]): Guide {
  const guide = guides.find((one) => one.name === name);
  if (guide === undefined) throw notFound('There is no page of this name');
  return guide;
}
