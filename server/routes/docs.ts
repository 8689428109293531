/** `/docs`: what this proxy answers, as a page. It lists the routes that there are, so it cannot name one that is not. */
import type { Route } from '../router.ts';

/** What each path is for, by method and path. */
const ABOUT: Readonly<Record<string, string>> = {
  'GET /': 'Name, version and where to go on',
  'GET /api/hello': 'An empty answer, for clients that ask whether anyone is there',
  'GET /health': 'How the proxy is, and why where it is degraded',
  'GET /docs': 'This page',
  'GET /docs/': 'This page',
  'GET /stats': 'Requests, tokens and cost of the session, of today and by model',
  'GET /stats/last': 'What the newest request saved',
  'GET /stats/session': 'What the session saved',
  'GET /recent': 'The newest 50 requests',
  'GET /savings': 'What compression saved, by model and by day; ?since=2026-01-31 begins later',
  'GET /cache-stats': 'Hits of our caches and of the providers’ prompt caches',
  'GET /metrics': 'Counters and histograms for Prometheus',
  'GET /metrics/dashboard': 'Rates, latency, errors and sums of the last 24 hours',
  'GET /trace/last': 'The newest request, step by step',
  'GET /trace/:id': 'One request, step by step, with every try at a provider',
  'GET /traces': 'The newest 200 requests, step by step',
  'GET /vault': 'What the vault holds',
  'POST /ingest': 'Add a block to the vault',
  'POST /ingest/batch': 'Add up to 1,000 blocks',
  'POST /config/reload': 'Read the configuration again; from this machine only',
  'GET /v1/svc/blocks/:id': 'A text as it was before compression; from this machine only',
  'GET /v1/svc/lost/:id': 'What a request lost to compression; from this machine only',
};

/** What goes on to a provider. */
const FORWARDED: readonly (readonly [path: string, about: string])[] = [
  ['POST /v1/messages', 'Messages, streamed or not'],
  ['POST /v1/chat/completions', 'Chat'],
  ['POST /v1/responses', 'Responses'],
  ['POST /v1beta/models/<model>:generateContent', 'Generative, and :streamGenerateContent'],
  ['GET /ws', 'The same by WebSocket'],
  ['/v1/…', 'Everything else, as it came, to the provider whose key the request carries'],
];

/** `routes`, and the page about them. */
export function withDocs(routes: readonly Route[]): Route[] {
  const handle = () =>
    new Response(page(all), {
      headers: {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      },
    });
  const docs = ['/docs', '/docs/'].map((path): Route => ({
    method: 'GET',
    path,
    audience: 'everybody',
    handle,
  }));
  const all = [...routes, ...docs];
  return all;
}

function page(routes: readonly Route[]): string {
  const own = routes.map(({ method, path }) => {
    const name = `${method} ${path}`;
    return [name, ABOUT[name] ?? ''] as const;
  });
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>svc: what it answers</title>
<h1>svc</h1>
<p>The settings and the architecture are in the README, the commands in <code>svc --help</code>.
<h2>Forwarded to a provider</h2>
${table(FORWARDED)}
<h2>Answered by svc</h2>
${table(own)}
</html>
`;
}

function table(rows: readonly (readonly [string, string])[]): string {
  const cells = rows.map(
    ([name, about]) => `<tr><td><code>${escaped(name)}</code><td>${escaped(about)}`,
  );
  return `<table>\n${cells.join('\n')}\n</table>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
