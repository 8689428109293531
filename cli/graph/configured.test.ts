/**
 * The graph shows the configuration: the output of `svc graph`, as a process of its own, before and
 * after a recipe, a macro, a provider written as code and a plugin's stage are added.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { entry, makePlace } from '../../fixtures/cli/run.ts';

const place = makePlace();
test.after(() => place.dispose());

function write(name: string, text: string): string {
  const path = join(place.folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

async function graph(config: string, ...argv: readonly string[]): Promise<string> {
  const file = write('config.yaml', config);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [entry, 'graph', '--config', file, ...argv],
    { env: place.env },
  );
  return stdout;
}

/**
 * Returns added and removed lines; runs of blanks count as one, since column widths depend on the
 * content.
 */
function difference(before: string, after: string): readonly string[] {
  const lines = (text: string) => text.split('\n').map((line) => line.replaceAll(/ +/g, ' '));
  const [old, now] = [lines(before), lines(after)];
  return [
    ...old.filter((line) => !now.includes(line)).map((line) => `-${line}`),
    ...now.filter((line) => !old.includes(line)).map((line) => `+${line}`),
  ];
}

write(
  'my-tool.yaml',
  'name: my-tool\nmatch: { program: my-tool }\noperations: [fold_repeats]\nexamples: []\n',
);
write(
  'home/macros/builds.yaml',
  'steps:\n  - recipes: { use: [make, gcc] }\n  - settings: { mode: aggressive, log_budget_tokens: 900 }\n',
);
write(
  'acme.mjs',
  `export default { name: 'acme', kind: 'chat', baseUrl: 'http://127.0.0.1:9', auth: 'none', request() {} };`,
);
write(
  'late.mjs',
  `export default { name: 'late', setup: () => ({ stages: [
  { after: 'keep', transform: () => new TransformStream() },
] }) };`,
);

test('recipes, macros, provider modules and plugin stages each change the graph', async () => {
  const plain = await graph('{}\n');
  assert.match(plain, /^ +recipes +plugin recipes, (\d+) recipes \(\1 bundled\)\n +compress$/m);
  const count = Number(/(\d+) recipes/.exec(plain)?.[1]);

  const withRecipe = 'compression: { recipes: [my-tool.yaml, bundled] }\n';
  assert.equal(difference(plain, await graph(withRecipe)), [
    `- recipes plugin recipes, ${count} recipes (${count} bundled)`,
    `+ recipes plugin recipes, ${count + 1} recipes (1 own, ${count} bundled)`,
  ]);
  assert.equal(difference(await graph('{}\n', '--recipes'), await graph(withRecipe, '--recipes')), [
    '+recipes my-tool own',
  ]);

  const macro =
    '+ macro:builds plugin macros, recipes make gcc, mode aggressive, log_budget_tokens 900';
  assert.equal(difference(plain, await graph('macros: [builds]\n')), [macro]);
  assert.equal(difference(plain, await graph('{}\n', '--macro', 'builds')), [macro]);
  assert.equal(
    difference(
      await graph('{}\n', '--recipes'),
      await graph('macros: [builds]\n', '--recipes'),
    ).map((line) => line.split(' ').slice(0, 2).join(' ')),
    ['-recipes gcc', '-recipes make', '+macro:builds make', '+macro:builds gcc'],
  );

  assert.equal(
    difference(plain, await graph('custom_providers: [{ module: acme.mjs, name: acme }]\n')),
    [
      '+ ▸ provider:acme plugin providers, request (hook) → upstream → answer, speaks chat, translates messages responses generative',
    ],
  );

  assert.equal(difference(plain, await graph('plugins: [{ module: late.mjs }]\n')), [
    '- fused segment forward → keep → meter → trace',
    '+ late plugin late, web stream',
    '+ fused segment forward → keep',
    '+ web stream late (plugin late)',
  ]);
});

test('without recipes the graph has no recipe stage', async () => {
  assert.not.match(await graph('compression: { recipes: off }\n'), /recipes/);
});

interface GraphJson {
  readonly request: readonly {
    readonly node: string;
    readonly within: readonly { readonly node: string; readonly plugin: string }[];
  }[];
  readonly edges: readonly { readonly from: string; readonly to: string; readonly on: string }[];
}

test('JSON contains edges and nested nodes, which Mermaid and SVG draw', async () => {
  const config = 'custom_providers: [{ module: acme.mjs, name: acme }]\n';
  const { request, edges } = JSON.parse(await graph(config, '--json')) as GraphJson;
  const forward = request.find(({ node }) => node === 'forward');
  assert.equal(
    forward?.within.map(({ node, plugin }) => [node, plugin]),
    [['provider:acme', 'providers']],
  );
  const ways = edges.map(({ from, to, on }) => `${from} > ${to} ${on}`);
  assert.equal(ways[0], 'client > parse request');
  assert.ok(ways.includes('recipes > compress request'), ways.join('\n'));
  assert.ok(ways.includes('lookup > meter answer'));
  assert.ok(ways.includes('trace > client answer'));
  assert.not.ok(ways.includes('forward > keep request'));
  assert.match(await graph(config, '--mermaid'), /within .*provider:acme, plugin providers/);
  assert.match(await graph(config, '--svg'), />▸ provider:acme</);
});

test.run();
