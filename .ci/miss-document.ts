/**
 * The generated parts of `docs/cache-misses.md`: remedies for each cause, and the table of model
 * facts.
 */
import { causeInWords } from '../server/words/miss-words.ts';
import { ADVICE } from '../stages/ledger/miss-json.ts';
import { MISS_CAUSES } from '../stages/model/cached-turn.ts';
import { allFacts } from '../stages/model/model-facts.ts';

/** Returns each cause with its name on the wire and what the user can do. */
export function causesTable(): string {
  const rows = MISS_CAUSES.map(
    (cause) => `| ${causeInWords(cause)} | \`${cause}\` | ${ADVICE[cause]} |`,
  );
  return ['| Cause | Name | What helps |', '|---|---|---|', ...rows].join('\n');
}

/** Returns every row of the table of model facts, with its source. */
export function modelFactsTable(): string {
  const rows = allFacts().map(([model, facts]) => {
    const { minCachedTokens, readPrice, lifetime, thinking, maxOutputTokens, source } = facts;
    const minTokens = minCachedTokens?.toLocaleString('en-US') ?? 'no cache known';
    const output = maxOutputTokens.toLocaleString('en-US');
    return `| ${model} | ${minTokens} | ${readPrice} | ${lifetime} | ${thinking} | ${output} | ${source} |`;
  });
  return [
    '| Models | Cached from (tokens) | Price of reads | Lifetime | Thinking bound to | Most output | Source |',
    '|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}
