import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isGenerated } from './risk.ts';
import { BACKENDS, inPlace } from './vault-place.ts';

const CODE = Array.from({ length: 75 }, (_, at) => `export const quagga${at} = zebra(${at} + 1);`);

test('a file of ordinary length is not machine-written for being short', () =>
  inPlace(async (place) => {
    const text = `${CODE.join('\n')}\n`;
    assert.ok(text.length > 2_500 && text.length < 3_900, `${text.length}`);
    place.write('src/ordinary.ts', text);
    await place.index();
    for (const backend of BACKENDS) {
      assert.ok((await place.open(backend).search('quagga7')).length > 0, backend);
    }
    for (const length of [1_999, 2_001, 3_000, 3_999]) {
      assert.not.ok(isGenerated('a.js', 'a'.repeat(length)), `${length}`);
    }
  }));

test('long lines are a sign of a machine in code, and paragraphs in prose', () => {
  const long = `${'Some words of a paragraph that nobody wrapped. '.repeat(60)}\n`;
  assert.ok(isGenerated('bundle.js', long.repeat(3)));
  assert.ok(isGenerated('page.html', long.repeat(3)));
  for (const name of ['essay.md', 'essay.txt', 'essay.rst', 'README', 'LICENSE']) {
    assert.not.ok(isGenerated(name, long.repeat(3)), name);
  }
});

test.run();
