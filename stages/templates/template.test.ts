import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fillTemplate, readTemplate } from './template.ts';

const REVIEW = `---
description: Reviews a change
variables:
  language: { default: English, about: what the review is in }
  style: short
---
Review {{ diff }} in {{language}}, {{style}}. Write \\{{diff}} as it is, and { {x}} too.
`;

const fill = async (source: string, values: Readonly<Record<string, string>>) =>
  fillTemplate(await readTemplate('t', source), new Map(Object.entries(values)));

async function refused(work: Promise<unknown>, reason: RegExp): Promise<void> {
  const outcome: unknown = await work.catch((thrown: unknown) => thrown);
  assert.instance(outcome, Error);
  assert.match((outcome as Error).message, reason);
}

test('placeholders are replaced by values and defaults, and nothing else changes', async () => {
  assert.is(
    await fill(REVIEW, { diff: 'a' }),
    'Review a in English, short. Write {{diff}} as it is, and { {x}} too.\n',
  );
  assert.is(await fill('{{a}}{{a}}{{b}}', { a: '1', b: '2' }), '112');
  assert.is(await fill('---\nno head', {}), '---\nno head');
});

test('a value is inserted as it is, even if it contains placeholders or replacement patterns', async () => {
  assert.is(await fill('{{a}} {{b}}', { a: '{{b}} $& $1', b: 'B' }), '{{b}} $& $1 B');
});

test('missing and unknown variables are all named at once', async () => {
  await refused(
    fill('{{a}} {{b}}', { c: '1' }),
    /has no variable c, needs a value for a, needs a value for b\. Its variables: a, b/,
  );
  await refused(fill('plain', { toString: 'x' }), /has no variable toString.*none/);
});

test('an invalid file is refused with all its faults', async () => {
  await refused(
    readTemplate('t', '---\nvariables: { x: 1 }\nother: 2\n---\n'),
    /Template t cannot be used: other is not known.*; variable x is not used.*; it has no text/,
  );
  await refused(readTemplate('t', '---\na: [\n---\ntext'), /cannot be used/);
});

test('anchors are accepted, aliases are refused by name, and missing front matter is not an error', async () => {
  const head = (yaml: string) => `---\n${yaml}\n---\n{{a}}`;
  assert.is(await fill(head('variables:\n  a: &x one'), {}), 'one');
  const chain = Array.from({ length: 2000 }, (_, at) => `k${at}: &k${at} [*k${at - 1}]`).join('\n');
  const refusals: readonly (readonly [yaml: string, reason: RegExp])[] = [
    ['variables:\n  b: &x one\n  a: *x', /aliases such as \*x are not read/],
    ['description: &x one\nvariables: { a: *x }', /aliases such as \*x/],
    ['base: &b { default: x }\nvariables:\n  a:\n    <<: *b', /aliases such as \*b/],
    ['variables: &v\n  a: *v', /aliases such as \*v/],
    ['variables: { a: *nowhere }', /aliases such as|Unresolved/],
    [chain, /aliases such as/],
    ['['.repeat(30_000), /nested too deeply/],
    ['- '.repeat(30_000), /nested too deeply/],
    [`a: ${'{a: '.repeat(9000)}`, /nested too deeply/],
    [`description: ${'x'.repeat(70_000)}`, /too long/],
  ];
  for (const [yaml, reason] of refusals) await refused(readTemplate('t', head(yaml)), reason);
});

test.run();
