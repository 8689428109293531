/**
 * The bundled recipes on the output that they are for, beside the built-in rules and as the proxy
 * runs them: judged by the checks that recorded traffic is judged by (`fixtures/corpus`).
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { recipeTexts, type PrintedText } from '../../fixtures/compress/recipe-texts.ts';
import { createTextChecks, noTexts } from '../../fixtures/corpus/compress/texts.ts';
import {
  compressConversation,
  emptyState,
} from '../../stages/compress/conversation/conversation.ts';
import type { ConversationBlock } from '../../stages/compress/conversation/blocks.ts';
import { OPERATIONS } from '../../stages/compress/recipe/operations.ts';
import { createRecipeCompiler } from '../../stages/compress/recipe/set.ts';
import { createConversationCompressor } from '../../stages/compress/worker/conversation-compressor.ts';
import { bundledRecipes } from '../bundled-recipes.ts';
import { loadRecipes } from './recipes.ts';

const SETTINGS = { maxChars: 120, thresholdTokens: 0, logBudgetTokens: 3500 } as const;

const blockOf = ({ text, command, path }: PrintedText, index = 0): ConversationBlock => ({
  index,
  role: 'tool',
  kind: 'tool_result',
  message: index,
  text,
  toolName: path === undefined ? 'Bash' : 'Read',
  toolInput: path === undefined ? { command } : { file_path: path },
});

test('without must_keep a bundled recipe does only what loses nothing', () => {
  const recipes = bundledRecipes();
  assert.ok(recipes.length >= 40);
  for (const { name, mustKeep, operations } of recipes) {
    const lossy = operations.filter((step) => OPERATIONS.get(step.name)?.loss !== 'none');
    assert.ok(mustKeep.length > 0 || lossy.length === 0, name);
  }
});

for (const mode of ['hybrid', 'aggressive'] as const)
  test(`${mode}: endings and what must stay are there to the letter, nothing is made up`, async () => {
    const recipes = await loadRecipes('bundled');
    const checks = await createTextChecks(recipes);
    const options = { ...SETTINGS, mode };
    const compressor = createConversationCompressor(0);
    const compress = (blocks: readonly ConversationBlock[]) =>
      compressor.compress({ blocks, options: { ...options, recipes: recipes! } });
    const counts = noTexts();
    const faults: string[] = [];
    for (const printed of await recipeTexts()) {
      const block = blockOf(printed);
      const [outcome] = await compress([block]);
      const text = outcome!.text ?? printed.text;
      for (const fault of checks.check([block], options, () => text, counts))
        faults.push(`${printed.name}: ${fault}`);
      const [again] = await compress([{ ...block, text }]);
      if ((again!.text ?? text) !== text) faults.push(`${printed.name}: a second time is not once`);
    }
    assert.equal(faults, []);
    assert.ok(counts.recipes >= 60, `${counts.recipes}`);
  });

test('what goes out for a turn is the same in the turn after, whatever else it brings', async () => {
  const rewriter = createRecipeCompiler()((await loadRecipes('bundled'))!);
  const blocks = (await recipeTexts()).map(blockOf);
  const options = { ...SETTINGS, thresholdTokens: 4500, mode: 'hybrid', rewriter } as const;
  const goesOn = emptyState();
  const whole = compressConversation(blocks, options).map(({ text }) => text);
  for (let end = 1; end <= blocks.length; end += 7) {
    const part = compressConversation(blocks.slice(0, end), options, undefined, goesOn);
    assert.equal(
      part.map(({ text }) => text),
      whole.slice(0, end),
    );
  }
});

test.run();
