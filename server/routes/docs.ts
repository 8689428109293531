/**
 * `/docs` and `/openapi.yaml`: what this proxy answers; `/docs/<name>`: the documentation. All are
 * made at the first request for them.
 */
import { notFound } from '../../stages/model/errors.ts';
import { get } from '../http/router.ts';
import type { Route } from '../http/router.ts';

export function docsRoutes(version: string): Route[] {
  let pages: Promise<ReadonlyMap<string, string>> | undefined;
  let yaml: Promise<string> | undefined;

  /** Every page by its name; the description of the API has the empty one. */
  async function makePages(): Promise<ReadonlyMap<string, string>> {
    const [{ docsPage }, { guidePage, readGuides }, { STYLE }] = await Promise.all([
      import('../openapi/page.ts'),
      import('../openapi/guide.ts'),
      import('../openapi/html.ts'),
    ]);
    const guides = await readGuides();
    return new Map([
      ['', docsPage(version, guides)],
      ...guides.map((guide) => [guide.name, guidePage(guide, guides, STYLE)] as const),
    ]);
  }

  async function makeYaml() {
    const [{ openApiDocument }, { stringify }] = await Promise.all([
      import('../openapi/document.ts'),
      import('yaml'),
    ]);
    return stringify(openApiDocument(version), { aliasDuplicateObjects: false });
  }

  async function servePage(name: string): Promise<Response> {
    const html = (await (pages ??= makePages())).get(name);
    if (html === undefined) throw notFound('There is no page of this name');
    const { PAGE_POLICY } = await import('../openapi/html.ts');
    return new Response(html, {
      headers: {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Security-Policy': PAGE_POLICY,
        'Referrer-Policy': 'no-referrer',
      },
    });
  }

  const api = () => servePage('');
  return [
    get('/docs', api, 'everybody'),
    get('/docs/', api, 'everybody'),
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
