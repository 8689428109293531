/**
 * `/docs`: the documentation; `/docs/<name>` a page of it, `/docs/<name>.md` the page as Markdown,
 * `/docs/api` and `/openapi.yaml` the API of this proxy. Each is built on its first request.
 */
import { readFile } from 'node:fs/promises';
import { notFound } from '../../stages/model/errors.ts';
import { START_PAGE, llmsText, readGuides, readMarkdown } from '../docs/guide.ts';
import type { Guide } from '../docs/guide.ts';
import { madeByBuild } from '../http/made-by-build.ts';
import { get } from '../http/router.ts';
import type { Route } from '../http/router.ts';

/** Build files that the pages load, by the name used in their URL. */
const LOADED: ReadonlyMap<string, { readonly file: string; readonly type: string }> = new Map([
  ['docs.js', { file: 'docs-page.js', type: 'text/javascript; charset=utf-8' }],
  ['search.json', { file: 'docs-index.json', type: 'application/json' }],
]);

const MARKDOWN = 'text/markdown; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';

export function docsRoutes(version: string): Route[] {
  let guides: Promise<readonly Guide[]> | undefined;
  let yaml: Promise<string> | undefined;

  async function pageHtml(name: string, all: readonly Guide[]): Promise<string> {
    const { API_PAGE, guidePage } = await import('../docs/layout.ts');
    if (name === API_PAGE) return (await import('../openapi/page.ts')).apiPage(version, all);
    return guidePage(found(name, all), all);
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
      return answer(await readMarkdown(found(name.slice(0, -'.md'.length), all), all), MARKDOWN);
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

function found(name: string, guides: readonly Guide[]): Guide {
  const guide = guides.find((one) => one.name === name);
  if (guide === undefined) throw notFound('There is no page of this name');
  return guide;
}
