/** A file that is made to cost more than its size is refused before it does. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isSvcError } from '../../engine/error.ts';
import { readYaml } from './yaml.ts';

/** A list of nine, nine times over: 9⁹ values from 400 bytes. */
function laughs(): string {
  const levels = ['a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha]'];
  for (let level = 1; level < 9; level++) {
    levels.push(
      `a${level}: &a${level} [${Array.from({ length: 9 }, () => `*a${level - 1}`).join(', ')}]`,
    );
  }
  return levels.join('\n');
}

/** Each level twice the one before, with fewer aliases than the limit. */
function doubling(): string {
  const levels = ['a0: &a0 [x]'];
  for (let level = 1; level < 24; level++) {
    levels.push(`a${level}: &a${level} [*a${level - 1}, *a${level - 1}]`);
  }
  return levels.join('\n');
}

/** By name; refusing one must cost a fraction of what reading it would. */
const BOMBS: Readonly<Record<string, string>> = {
  'nine levels of laughs': laughs(),
  'doubling under the alias limit': doubling(),
  'an alias of its own parent': 'a: &a {b: *a}',
  'brackets without end': `a: ${'['.repeat(200_000)}`,
  'braces without end': '{a: '.repeat(60_000),
  'dashes on one line': '- '.repeat(100_000),
  'question marks on one line': '? '.repeat(100_000),
  'anchors on one node': '&a '.repeat(80_000),
  'lines without content': '\n'.repeat(250_000),
  'comments without end': '#\n'.repeat(120_000),
  'a flow map of many keys': `{${Array.from({ length: 25_000 }, (_, key) => `k${key}: 1`).join(',')}}`,
};

test('what multiplies is refused at once', async () => {
  await readYaml('a: 1', 'warm-up');
  for (const [name, text] of Object.entries(BOMBS)) {
    const start = process.cpuUsage();
    const error: unknown = await readYaml(text, 'bomb.yaml').catch((thrown: unknown) => thrown);
    const { user, system } = process.cpuUsage(start);
    const cpuMs = (user + system) / 1000;
    assert.ok(isSvcError(error), name);
    assert.is(error.code, 'CONFIG_001', name);
    // Time of the processor, which a busy machine stretches least.
    assert.ok(cpuMs < (text.length < 1000 ? 100 : 300), `${name} took ${cpuMs} ms`);
  }
});

test.run();
