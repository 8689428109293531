/** The active recipes, with what each has saved since the start and on which tools. */
import type { RecipesJson } from '../contract.ts';
import { figureColumn, savedColumn } from './requests/columns.ts';
import { counted } from '../../words/counted.ts';
import { useFetched } from './fetched.ts';
import { share, short, wholeNumber } from './format.ts';
import { Table } from './requests/table.tsx';
import type { TableColumn } from './requests/table.tsx';
import { Fault } from './message-text.tsx';

type Recipe = RecipesJson['recipes'][number];

/** How many of the tools that a recipe changed are named. */
const MAX_NAMED = 4;

const savedBy = (one: Pick<Recipe, 'tokens_before' | 'tokens_after'>): number =>
  one.tokens_before - one.tokens_after;

const COLUMNS: readonly TableColumn<Recipe>[] = [
  {
    header: 'Recipe',
    rank: 0,
    text: ({ name }) => name,
    cell: ({ name, description }) => (
      <>
        {name}
        {description !== null && <span class="quiet about">{description}</span>}
      </>
    ),
  },
  { header: 'From', rank: 8, text: ({ from }) => from },
  figureColumn('Requests', 5, (one) => wholeNumber(one.requests)),
  figureColumn('Texts', 6, (one) => wholeNumber(one.blocks)),
  figureColumn('Before', 4, (one) => short(one.tokens_before)),
  figureColumn('After', 3, (one) => short(one.tokens_after)),
  savedColumn(1, savedBy),
  figureColumn('Share', 2, (one) =>
    share(one.tokens_before === 0 ? null : savedBy(one) / one.tokens_before),
  ),
  { header: 'On', rank: 7, text: onWords, cell: (one) => <span class="on">{onWords(one)}</span> },
];

/** Returns text such as `Bash 12,000, read_file 800, 3 more`: tokens saved on each. */
function onWords({ on }: Recipe): string {
  const named = on.slice(0, MAX_NAMED).map((one) => `${one.name} ${short(savedBy(one))}`);
  const rest = on.length - named.length;
  return [...named, ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
}

export function RecipesView() {
  const { value, error } = useFetched<RecipesJson>('recipes', () => '/dashboard/api/recipes');
  const all = value?.recipes ?? [];
  const used = all
    .filter(({ blocks }) => blocks > 0)
    .toSorted((one, other) => savedBy(other) - savedBy(one));
  const unused = all.filter(({ blocks }) => blocks === 0);
  return (
    <div class="page">
      <h1>Recipes</h1>
      <p class="quiet">
        What recipes and built-in rules changed since the proxy started, in estimated tokens. A text
        counts in every request that it is part of, and for each recipe that changed it.
      </p>
      <Fault text={error} />
      {value === undefined && error === undefined && <p class="quiet">Loading…</p>}
      {value !== undefined && used.length === 0 && (
        <p class="quiet">No recipe has changed anything yet.</p>
      )}
      {used.length > 0 && (
        <section class="card flush" aria-label="Recipes that changed something">
          <Table columns={COLUMNS} rows={used} />
        </section>
      )}
      {unused.length > 0 && (
        <details class="card flush unused" open={used.length === 0}>
          <summary>{counted(unused.length, 'recipe')} that changed nothing yet</summary>
          <Table columns={UNUSED_COLUMNS} rows={unused} />
        </details>
      )}
    </div>
  );
}

const UNUSED_COLUMNS = [
  COLUMNS[0]!,
  COLUMNS[1]!,
  { header: 'Stage', rank: 2, text: ({ node }: Recipe) => node ?? '–' },
];
