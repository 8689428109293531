/** What a request cost by what was billed. */
import type { OneRequestJson } from '../../contract.ts';
import { NONE, dollars, share, whole } from '../format.ts';

type Units = OneRequestJson['cost_units'];

const NAMES: Partial<Record<Units[number]['unit'], string>> = {
  input: 'Input',
  cache_read: 'Input read from the provider’s cache',
  cache_write: 'Input written to the provider’s cache',
  output: 'Output',
  web_search: 'Searches of the web',
  other: 'Other terms, fees and media',
};

export function CostByUnit({ units }: { readonly units: Units }) {
  if (units.length === 0) return null;
  const sum = units.reduce((total, { cost }) => total + (cost ?? 0), 0);
  return (
    <section class="card flush" aria-labelledby="cost-units">
      <header>
        <h2 id="cost-units">What it cost</h2>
      </header>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Unit</th>
              <th scope="col" class="num">
                Tokens or calls
              </th>
              <th scope="col" class="num">
                Cost
              </th>
              <th scope="col" class="num">
                Share
              </th>
            </tr>
          </thead>
          <tbody>
            {units.map(({ unit, count, cost }) => (
              <tr key={unit}>
                <th scope="row">{NAMES[unit] ?? unit}</th>
                <td class="num">{count === null ? NONE : whole(count)}</td>
                <td class="num">{dollars(cost)}</td>
                <td class="num">{share(cost === null || sum === 0 ? null : cost / sum)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
