/**
 * Requests that a browser makes without a script of the page: prefetches, forms, frames, beacons,
 * redirects. None of them names the site that caused it, and none may reach a provider, where the
 * configured key would pay for it.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import { dump, servePage, startForwarder, visit } from '../../../fixtures/server/browser.ts';
import { MESSAGE } from '../../../fixtures/server/exchange.ts';

/**
 * A page that makes requests without fetch and cannot see their results: their effect is checked at
 * the upstream.
 */
function quietPage(port: number): string {
  const proxied = `http://127.0.0.1:${port}/v1`;
  const body = JSON.stringify(MESSAGE);
  return `<!doctype html><title>page</title>
<link rel="prefetch" href="${proxied}/models?link">
<link rel="preload" as="fetch" crossorigin href="${proxied}/models?preload">
<link rel="stylesheet" href="${proxied}/models?style">
<script type="speculationrules">${JSON.stringify({
    prefetch: [
      {
        urls: [`${proxied}/models?prefetch`, '/away?to=redirected-prefetch'],
        eagerness: 'immediate',
      },
      {
        urls: [`${proxied}/models?prefetch-anonymous`],
        requires: ['anonymous-client-ip-when-cross-origin'],
        eagerness: 'immediate',
      },
    ],
    prerender: [
      {
        urls: [`${proxied}/models?prerender`, '/away?to=redirected-prerender'],
        eagerness: 'immediate',
      },
    ],
  })}</script>
<img src="${proxied}/models?image"><iframe src="${proxied}/models?frame"></iframe>
<iframe src="/away?to=redirected-frame"></iframe>
<object data="${proxied}/models?object"></object><embed src="${proxied}/models?embed">
<iframe name="answer"></iframe>
<form id="plain" method="post" enctype="text/plain" target="answer" action="${proxied}/messages">
<input name='${body.slice(0, -1)},"x":"' value='"}'></form>
<form id="get" target="answer" action="${proxied}/models"><input name="form" value="1"></form>
<form id="self" method="post" enctype="text/plain" target="answer" action="/post-away"><input name="a" value="b"></form>
<script>
const body = ${body};
const text = JSON.stringify(body);
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const worker = () => new Worker(URL.createObjectURL(new Blob(['(' + ((url, text) => {
  Promise.allSettled([
    fetch(url + '/models?worker', { mode: 'no-cors' }),
    fetch(url + '/messages', { method: 'POST', mode: 'no-cors', body: text }),
    fetch(url + '/messages', { method: 'POST', headers: { 'content-type': 'application/json' }, body: text }),
  ]).then(() => postMessage('done'));
}) + ')(' + JSON.stringify('${proxied}') + ',' + JSON.stringify(text) + ')'], { type: 'text/javascript' })));
addEventListener('load', async () => {
  const seen = { speculates: String(HTMLScriptElement.supports('speculationrules')) };
  for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded', undefined]) {
    const blob = type === undefined ? new Blob([text]) : new Blob([text], { type });
    try { navigator.sendBeacon('${proxied}/messages', blob); } catch {}
  }
  await new Promise((resolve) => { worker().onmessage = resolve; });
  for (const id of ['plain', 'get', 'self']) { document.getElementById(id).submit(); await wait(300); }
  const popup = open('/away?to=popup');
  await wait(3000);
  await fetch('/report', { method: 'POST', body: JSON.stringify(seen) });
});
</script>`;
}

test('a typed URL or a redirect in a browser reaches no provider', async () => {
  await withProxy({}, async ({ proxy, upstream }) => {
    const server = await servePage('', `http://127.0.0.1:${proxy.port}/v1/models`);
    try {
      for (const url of [
        `http://127.0.0.1:${proxy.port}/v1/models?typed`,
        `http://localhost:${server.port}/away?to=typed`,
      ]) {
        const dumped = await dump(url);
        assert.match(dumped, /AUTH_001/, url);
      }
      assert.match(await dump(`http://127.0.0.1:${proxy.port}/stats`), /uptime|requests/);
      assert.is(upstream.requests.length, 0);
    } finally {
      server.close();
    }
  });
});

for (const host of ['127.0.0.1', 'localhost']) {
  test(`prefetch, prerender, form, beacon, worker and redirect from ${host} reach no provider`, async () => {
    await withProxy({}, async ({ proxy, upstream }) => {
      const forwarder = await startForwarder(proxy.port);
      const target = `http://127.0.0.1:${forwarder.port}/v1/models`;
      const server = await servePage(quietPage(forwarder.port), target);
      try {
        const seen = await visit(`http://${host}:${server.port}/`, server.report);
        assert.is(seen['speculates'], 'true');
        // Make sure that the browser really made the requests.
        for (const way of ['?prefetch', '?frame', '?worker', 'POST /v1/messages'])
          assert.ok(
            forwarder.lines.some((line) => line.includes(way)),
            `${way} was not tried: ${forwarder.lines.join(', ')}`,
          );
        assert.equal(
          upstream.requests.map(({ method, path }) => `${method} ${path}`),
          [],
        );
      } finally {
        server.close();
        forwarder.close();
      }
    });
  });
}

test.run();
