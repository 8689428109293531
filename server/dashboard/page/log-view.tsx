/** The live log; shown only on the proxy's own machine. */
import { useState } from 'preact/hooks';
import { visible } from '../../log/visible.ts';
import { counted } from '../../words/counted.ts';
import { time } from './format.ts';
import { logLines } from './live.ts';
import { NO_LINES, fieldsOf, parsed } from './log-line.ts';
import type { LogLine } from './log-line.ts';
import { Link } from './frame/link.tsx';
import { setFilters } from './frame/location.ts';
import { useStore } from './store.ts';
import { TextWithCode } from './message-text.tsx';

const LEVELS = ['debug', 'info', 'warning', 'error'];

export function LogView({ query }: { readonly query: URLSearchParams }) {
  const lines = useStore(logLines);
  const [held, setHeld] = useState<readonly string[] | undefined>();
  const level = query.get('level') ?? 'debug';
  const words = (query.get('text') ?? '').toLowerCase();
  const min = Math.max(0, LEVELS.indexOf(level));
  const matching = (held ?? lines)
    .filter((line) => words === '' || line.toLowerCase().includes(words))
    .map(parsed)
    .filter((line) => LEVELS.indexOf(line.level ?? 'info') >= min)
    .toReversed();
  return (
    <section class="fill" aria-labelledby="log-title">
      <h1 id="log-title" class="hidden">
        Log
      </h1>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <label>
          <span>Level</span>
          <select
            name="level"
            value={level}
            onChange={(event) => setFilters({ level: event.currentTarget.value })}
          >
            {LEVELS.map((name) => (
              <option key={name} value={name}>
                {name === 'error' ? name : `${name} and above`}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>Text</span>
          <input
            name="text"
            type="search"
            value={query.get('text') ?? ''}
            onInput={(event) => setFilters({ text: event.currentTarget.value }, true)}
          />
        </label>
        <button
          type="button"
          aria-pressed={held !== undefined}
          onClick={() => setHeld(held === undefined ? lines : undefined)}
        >
          {held === undefined ? 'Hold' : 'Go on'}
        </button>
        <output class="quiet count">{counted(matching.length, 'line')}</output>
      </form>
      <div class="log" role="log" aria-live="off" tabIndex={0} aria-label="Log, newest first">
        {matching.length === 0 && (
          <p class="quiet pad">
            <TextWithCode text={NO_LINES} /> Only the proxy’s own machine is sent the log.
          </p>
        )}
        {matching.map((line, index) => (
          <LogRow key={matching.length - index} line={line} />
        ))}
      </div>
    </section>
  );
}

export function LogRow({ line }: { readonly line: LogLine }) {
  const { time: at, level = 'info', msg, requestId } = line;
  return (
    <div class={`log-row ${level}`}>
      <span class="quiet">{at === undefined ? '' : time(at)}</span>
      <span class="level">{level}</span>
      <span class="words">
        {visible(msg ?? '')}{' '}
        {requestId !== undefined && (
          <Link to="request" id={requestId}>
            {requestId}
          </Link>
        )}{' '}
        <span class="quiet">{visible(fieldsOf(line))}</span>
      </span>
    </div>
  );
}
