/** `/docs` and `/openapi.yaml`: what this proxy answers. Both are made when somebody first asks. */
import type { Route } from '../router.ts';

export function docsRoutes(version: string): Route[] {
  let page: Promise<{ html: string; policy: string }> | undefined;
  let yaml: Promise<string> | undefined;

  async function makePage() {
    const { PAGE_POLICY, docsPage } = await import('../openapi/page.ts');
    return { html: docsPage(version), policy: PAGE_POLICY };
  }

  async function makeYaml() {
    const [{ openApiDocument }, { stringify }] = await Promise.all([
      import('../openapi/document.ts'),
      import('yaml'),
    ]);
    return stringify(openApiDocument(version), { aliasDuplicateObjects: false });
  }

  async function servePage(): Promise<Response> {
    const { html, policy } = await (page ??= makePage());
    return new Response(html, {
      headers: { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy },
    });
  }

  return [
    { method: 'GET', path: '/docs', audience: 'everybody', handle: servePage },
    { method: 'GET', path: '/docs/', audience: 'everybody', handle: servePage },
    {
      method: 'GET',
      path: '/openapi.yaml',
      audience: 'everybody',
      handle: async () =>
        new Response(await (yaml ??= makeYaml()), {
          headers: { 'Content-Type': 'application/yaml; charset=utf-8' },
        }),
    },
  ];
}
