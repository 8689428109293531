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

const fill = (source: string, values: Readonly<Record<string, string>>) =>
  fillTemplate(readTemplate('t', source), new Map(Object.entries(values)));

test('values and defaults stand in their places, and nothing else changes', () => {
  assert.is(
    fill(REVIEW, { diff: 'a' }),
    'Review a in English, short. Write {{diff}} as it is, and { {x}} too.\n',
  );
  assert.is(fill('{{a}}{{a}}{{b}}', { a: '1', b: '2' }), '112');
  assert.is(fill('---\nno head', {}), '---\nno head');
});

test('a value is data: neither places nor patterns of a replacement in it count', () => {
  assert.is(fill('{{a}} {{b}}', { a: '{{b}} $& $1', b: 'B' }), '{{b}} $& $1 B');
});

test('what is missing and what is not known is named, all at once', () => {
  assert.throws(
    () => fill('{{a}} {{b}}', { c: '1' }),
    /has no variable c, needs a value for a, needs a value for b\. Its variables: a, b/,
  );
  assert.throws(() => fill('plain', { toString: 'x' }), /has no variable toString.*none/);
});

test('a faulty file is refused with everything that is wrong', () => {
  assert.throws(
    () => readTemplate('t', '---\nvariables: { x: 1 }\nother: 2\n---\n'),
    /Template t cannot be used: other is not known.*; variable x stands nowhere.*; it has no text/,
  );
  assert.throws(() => readTemplate('t', '---\na: [\n---\ntext'), /cannot be used/);
});

test.run();
