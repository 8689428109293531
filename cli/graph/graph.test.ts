/**
 * The printed graph matches the compiled one: its order, its segments, and the origin of each node.
 */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fixturePath } from '../../fixtures/paths.ts';
import { makePlace, run } from '../../fixtures/cli/run.ts';

const place = makePlace();
test.after(() => place.dispose());

interface Printed {
  readonly request: readonly {
    readonly node: string;
    readonly plugin: string | null;
    readonly web_stream: boolean;
  }[];
  readonly answers: readonly {
    readonly from: string;
    readonly segments: readonly {
      readonly form: string;
      readonly nodes: readonly { readonly node: string; readonly plugin: string | null }[];
    }[];
  }[];
}

async function printed(argv: readonly string[]): Promise<Printed> {
  const ran = await run(place, ['graph', '--json', ...argv]);
  assert.is(ran.code, 0, ran.stderr);
  return JSON.parse(ran.stdout) as Printed;
}

const waysOf = ({ answers }: Printed) =>
  answers.map(({ from, segments }) => [
    from,
    ...segments.map(({ form, nodes }) => `${form}: ${nodes.map(({ node }) => node).join(' ')}`),
  ]);

/** A stage with a stream of its own, which is a segment by itself. */
const streamed = join(place.folder, 'streamed.mjs');
writeFileSync(
  streamed,
  `export default { name: 'streamed', setup: () => ({ stages: [
  { name: 'own<stream>', after: 'keep', transform: () => new TransformStream() },
] }) };`,
  { mode: 0o644 },
);

test('shows the built-in graph in order of both directions, for an empty home', async () => {
  const graph = await printed([]);
  assert.equal(
    graph.request.map(({ node }) => node),
    'parse template protect recipes compress inject route lookup spend forward keep meter trace'.split(
      ' ',
    ),
  );
  assert.equal(waysOf(graph), [
    ['lookup', 'fused: meter trace'],
    ['forward', 'fused: forward keep meter trace'],
  ]);
  assert.ok(!existsSync(place.home) || readdirSync(place.home).length === 0);
});

test('a plugin is placed where it was inserted, and its own stream is shown separately', async () => {
  const graph = await printed([
    '--plugin',
    fixturePath('plugins', 'cost-cap.mjs'),
    '--plugin',
    streamed,
  ]);
  const own = graph.request.find(({ node }) => node === 'own<stream>');
  assert.equal([own?.plugin, own?.web_stream], ['streamed', true]);
  assert.ok(graph.request.some(({ plugin }) => plugin === 'cost-cap'));
  const forward =
    waysOf(graph)
      .find(([from]) => from === 'forward')
      ?.slice(1) ?? [];
  const at = forward.indexOf('stream: own<stream>');
  assert.ok(at > 0, forward.join('\n'));
  assert.match(forward[at - 1]!, /^fused: .*keep$/);
  assert.match(forward[at + 1]!, /^fused: meter/);
});

test('a plugin that requires settings gets them from --settings', async () => {
  const footer = ['graph', '--plugin', fixturePath('plugins', 'footer.mjs')];
  assert.is((await run(place, footer)).code, 4);
  const settled = await run(place, [...footer, '--settings', '{text: checked}']);
  assert.match(settled.stdout, /plugin footer/, settled.stderr);
});

test('text, Mermaid and SVG show the same nodes, whatever their names', async () => {
  const text = await run(place, ['graph', '--plugin', streamed]);
  assert.match(text.stdout, /own<stream> +plugin streamed, web stream\n/);
  assert.match(
    text.stdout,
    /Answer of forward\n {2}fused segment {2}forward → keep\n {2}web stream {5}own/,
  );
  const mermaid = await run(place, ['graph', '--plugin', streamed, '--mermaid']);
  assert.match(mermaid.stdout, /^flowchart TD\n/);
  assert.match(mermaid.stdout, /\["own#60;stream#62;, plugin streamed, web stream"\]/);
  assert.is(
    mermaid.stdout.match(/^ {2}subgraph/gm)?.length,
    mermaid.stdout.match(/^ {2}end/gm)?.length,
  );
  const svg = await run(place, ['graph', '--plugin', streamed, '--svg']);
  assert.match(svg.stdout, /^<svg [^]*<\/svg>\n$/);
  assert.match(svg.stdout, />own&#60;stream&#62;</);
  assert.not.match(svg.stdout, /own<stream>/);
});

test('a faulty plugin is named with its line, and so is an unknown place', async () => {
  const broken = join(place.folder, 'broken.mjs');
  writeFileSync(
    broken,
    `export default { name: 'broken', setup() {\n  throw new Error('no key');\n} };`,
    { mode: 0o644 },
  );
  const ran = await run(place, ['graph', '--plugin', broken]);
  const config = join(place.folder, 'c.yaml');
  writeFileSync(config, `plugins: [{ module: ${broken} }]\n`);
  const validated = await run(place, ['config', 'validate', config]);
  assert.is(ran.code, validated.code);
  assert.match(ran.stderr, /broken\.mjs:2: no key/);
  assert.match(validated.stdout, /broken\.mjs:2: no key/);
  const lost = join(place.folder, 'lost.mjs');
  writeFileSync(
    lost,
    `export default { name: 'lost', setup: () => ({ stages: [{ after: 'nowhere', on: {} }] }) };`,
    { mode: 0o644 },
  );
  const misplaced = await run(place, ['graph', '--plugin', lost]);
  assert.is(misplaced.code, ran.code);
  assert.match(misplaced.stderr, /Plugin 'lost' inserts 'lost' beside 'nowhere'/);
});

test('only one output format may be requested', async () => {
  const ran = await run(place, ['graph', '--svg', '--json']);
  assert.is(ran.code, 2);
});

test.run();
