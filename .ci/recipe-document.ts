/**
 * The generated parts of `docs/recipes.md`: every operation with an example, every bundled recipe.
 */
import { OPERATIONS } from '../stages/compress/recipe/operations.ts';
import type { Recipe } from '../stages/compress/recipe/recipe.ts';

const LOSSES = { none: 'nothing', lines: 'whole lines', text: 'parts of lines' } as const;

/** Returns every operation: what it does, may lose and takes, and an example before and after. */
export function operationsDocument(): string {
  return [...OPERATIONS]
    .map(([name, { about, loss, params, example }]) => {
      const taken = Object.entries(params).map(([param, one]) => {
        const standard =
          one.default === undefined ? '' : `; ${JSON.stringify(one.default)} if left out`;
        return `- \`${param}\` (${one.kind}): ${one.about}${standard}`;
      });
      const written =
        Object.keys(example.with).length === 0 ? name : `${name}: ${JSON.stringify(example.with)}`;
      return [
        `### ${name}`,
        '',
        `${about} May lose: ${LOSSES[loss]}.`,
        '',
        ...(taken.length === 0 ? [] : [...taken, '']),
        '```text',
        `- ${visible(written)}`,
        '--- before',
        visible(example.before),
        '--- after',
        visible(example.after),
        '```',
      ].join('\n');
    })
    .join('\n\n');
}

/** Returns the bundled recipes, one row each. */
export function recipesTable(recipes: readonly Recipe[]): string {
  const rows = recipes.map(
    ({ name, description }) => `| \`${name}\` | ${description.replaceAll('|', '\\|')} |`,
  );
  return ['| Recipe | What goes out |', '|---|---|', ...rows].join('\n');
}

const visible = (text: string): string => text.replaceAll('\u001b', '␛').replaceAll('\t', '→');
