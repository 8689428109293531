/** The filters of the current view. Each change goes to the URL, which everything else reads. */
import type { ComponentChildren } from 'preact';
import { visible } from '../../../log/visible.ts';
import { counted } from '../../../words/counted.ts';
import { useStore } from '../store.ts';
import { state } from '../live.ts';
import { FILTERS, isFiltered, setFilters } from '../frame/location.ts';
import { TypedFilter } from './typed-filter.tsx';

interface FilterBarProps {
  readonly query: URLSearchParams;
  /** Number of listed requests. */
  readonly count?: number | undefined;
  readonly complete?: boolean;
  /** Further display options. */
  readonly children?: ComponentChildren;
}

/** Their names for users. */
const NAMES = { client: 'agent', project: 'project', key: 'key', session: 'conversation' };

export function FilterBar({ query, count, complete, children }: FilterBarProps) {
  const live = useStore(state);
  const providers = Object.keys(live?.providers ?? {});
  const chosen = query.get('provider') ?? '';
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <label>
        <span>Search</span>
        <TypedFilter
          name="q"
          value={query.get('q') ?? ''}
          placeholder="id, name, project …"
          shortcut="/"
        />
      </label>
      <label>
        <span>Model</span>
        <TypedFilter name="model" value={query.get('model') ?? ''} placeholder="any" />
      </label>
      <label>
        <span>Provider</span>
        <select
          name="provider"
          value={chosen}
          onChange={(event) => setFilters({ provider: event.currentTarget.value })}
        >
          <option value="">any</option>
          {[...new Set([...providers, ...(chosen === '' ? [] : [chosen])])].map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Outcome</span>
        <select
          name="outcome"
          value={query.get('failed') === '1' ? 'failed' : (query.get('outcome') ?? '')}
          onChange={({ currentTarget: { value } }) =>
            setFilters(
              value === 'failed'
                ? { failed: '1', outcome: null }
                : { failed: null, outcome: value },
            )
          }
        >
          <option value="">any</option>
          <option value="failed">failed</option>
          {['ok', 'error', 'partial', 'cancelled'].map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {(['client', 'project', 'key', 'session'] as const).map((name) => {
        const value = query.get(name);
        return value === null ? null : (
          <button
            key={name}
            type="button"
            class="chip"
            title={`Remove the filter ${NAMES[name]}`}
            onClick={() => setFilters({ [name]: null })}
          >
            {NAMES[name]} <b>{visible(value)}</b> <span aria-hidden="true">×</span>
          </button>
        );
      })}
      {isFiltered(query) && (
        <button
          type="button"
          class="plain"
          onClick={() => setFilters(Object.fromEntries(FILTERS.map((name) => [name, null])))}
        >
          Clear
        </button>
      )}
      {children}
      {count !== undefined && (
        <output class="quiet count">
          {complete === true ? '' : 'first '}
          {counted(count, 'request')}
        </output>
      )}
    </form>
  );
}
