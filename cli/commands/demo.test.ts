import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';

import { test } from 'uvu';
import * as assert from 'uvu/assert';

import { makePlace, run } from '../../fixtures/cli/run.ts';

interface Played {
  readonly requests: readonly {
    readonly status: number;
    readonly outcome: string;
    readonly input_tokens: number;
    readonly trace: { readonly stages: readonly { readonly node: string }[] };
  }[];
  readonly totals: {
    readonly requests: number;
    readonly cost: number;
    readonly saved_tokens: number;
  };
}

function leftovers(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('svc-demo-'));
}

test('the demo plays every turn through the proxy and leaves nothing behind', async () => {
  const place = makePlace();
  const before = leftovers();
  // A key and a URL in the environment must not make the demo call a real provider.
  const env = { ...place.env, MSGPROV_BASE_URL: 'http://127.0.0.1:9', ANTHROPIC_API_KEY: 'k' };
  const { code, stdout, stderr } = await run(place, ['demo', '--json'], { env });
  assert.equal([code, stderr], [0, '']);
  const { requests, totals } = JSON.parse(stdout) as Played;
  assert.ok(requests.length >= 8);
  assert.is(totals.requests, requests.length);
  assert.ok(totals.cost > 0);
  assert.ok(totals.saved_tokens > 0);
  for (const one of requests) {
    assert.equal([one.status, one.outcome], [200, 'ok']);
    assert.ok(one.input_tokens > 0);
    const nodes = one.trace.stages.map(({ node }) => node);
    for (const node of ['parse', 'forward', 'meter']) assert.ok(nodes.includes(node), node);
  }
  assert.equal(leftovers(), before);
  assert.equal(readdirSync(place.folder), []);
  place.dispose();
});

test('the table has a row for each request and a total', async () => {
  const place = makePlace();
  const { code, stdout } = await run(place, ['demo']);
  assert.is(code, 0);
  assert.match(stdout, /^turn +in +sent +saved +out +cost$/m);
  assert.match(stdout, /^ 1 survey the repository +(\d+) +\1 +0 /m);
  assert.match(stdout, /^ 4 versions of the client and the runner +[\d,]+ .* \$\d/m);
  for (const stage of ['compress', 'inject', 'forward'])
    assert.match(stdout, new RegExp(`^${stage} +[\\d.]+ +[\\d.]+ {2}\\w+`, 'm'));
  assert.match(stdout, /\d+ requests to .* tokens in, .* out, \$\d/);
  assert.match(stdout, /Saved [\d,]+ of [\d,]+ input tokens \(.*%\) and \$.* of \$.*\.\n$/);
  place.dispose();
});

test.run();
