import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { GRAMMAR_SAMPLES } from '../fixtures/grammar-samples.ts';
import { CODE_EXTENSIONS, grammarFor } from './compress/rules/code/code-tools.ts';
import { createGrammarLoader } from './grammars.ts';
import { GRAMMARS } from './vault/read/grammar.ts';

test('every grammar in use loads and parses a definition without an error', async () => {
  const loader = createGrammarLoader();
  const names = new Set([...GRAMMARS.values(), ...CODE_EXTENSIONS.map((one) => grammarFor(one)!)]);
  assert.equal([...names].toSorted(), Object.keys(GRAMMAR_SAMPLES).toSorted());
  for (const name of names) {
    const { parser } = await loader.load(name);
    const tree = parser.parse(GRAMMAR_SAMPLES[name]!(1));
    assert.is(tree?.rootNode.hasError, false, name);
    tree?.delete();
  }
});

test.run();
