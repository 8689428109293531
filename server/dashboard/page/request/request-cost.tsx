/** The cost of a request by billed unit. */
import type { OneRequestJson } from '../../contract.ts';
import { NONE, dollars, share, wholeNumber } from '../format.ts';
import { figureColumn } from '../requests/columns.ts';
import type { Column } from '../requests/columns.ts';
import { Table } from '../requests/table.tsx';

type Units = OneRequestJson['cost_units'];

const NAMES: Partial<Record<Units[number]['unit'], string>> = {
  input: 'Input',
  cache_read: 'Input read from the provider’s cache',
  cache_write: 'Input written to the provider’s cache',
  output: 'Output',
  web_search: 'Searches of the web',
  other: 'Other terms, fees and media',
};

function columnsOf(units: Units): readonly Column<Units[number]>[] {
  const sum = units.reduce((total, { cost }) => total + (cost ?? 0), 0);
  return [
    { header: 'Unit', rank: 0, text: ({ unit }) => NAMES[unit] ?? unit },
    figureColumn('Tokens or calls', 2, ({ count }) => (count === null ? NONE : wholeNumber(count))),
    figureColumn('Cost', 1, ({ cost }) => dollars(cost)),
    figureColumn('Share', 3, ({ cost }) => share(cost === null || sum === 0 ? null : cost / sum)),
  ];
}

export function CostByUnit({ units }: { readonly units: Units }) {
  if (units.length === 0) return null;
  return (
    <section class="card flush" aria-labelledby="cost-units">
      <header>
        <h2 id="cost-units">What it cost</h2>
      </header>
      <Table columns={columnsOf(units)} rows={units} />
    </section>
  );
}
