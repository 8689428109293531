/**
 * Conversations turn by turn: how each grows, what it costs, and what was read from the provider's
 * cache.
 */
import { useMemo } from 'preact/hooks';
import type { ConversationsJson, RequestJson } from '../contract.ts';
import { figureColumn, savedColumn, savedTone } from './requests/columns.ts';
import { counted } from '../../words/counted.ts';
import { FilterBar } from './requests/filter-bar.tsx';
import { useFetched } from './fetched.ts';
import {
  dollars,
  duration,
  orDash,
  percent,
  share,
  short,
  spanOf,
  time,
  wholeNumber,
} from './format.ts';
import { Link } from './frame/link.tsx';
import { localMoment } from './local-time.ts';
import { missInWords } from '../../words/miss-words.ts';
import { queryOf, useRequests } from './requests/requests-data.ts';
import { ModelName, Outcome } from './requests/request-columns.tsx';
import { Table } from './requests/table.tsx';
import type { TableColumn } from './requests/table.tsx';
import { Fault } from './message-text.tsx';

type Conversation = ConversationsJson['conversations'][number];

const COLUMNS: readonly TableColumn<Conversation>[] = [
  {
    header: 'Conversation',
    rank: 0,
    text: (one) => one.session_id,
    cell: ({ session_id: id }) => (
      <Link class="clip" to="conversation" id={id} title={id}>
        {orDash(id)}
      </Link>
    ),
  },
  { header: 'Agent', rank: 9, text: (one) => orDash(one.client) },
  {
    header: 'Newest turn',
    rank: 2,
    text: (one) => time(one.last),
    cell: (one) => <span title={localMoment(one.last)}>{time(one.last)}</span>,
  },
  figureColumn('Turns', 3, (one) => wholeNumber(one.requests)),
  figureColumn('Lasted', 11, (one) =>
    spanOf((Date.parse(one.last) - Date.parse(one.first)) / 1000),
  ),
  figureColumn('In', 5, (one) => short(one.input_tokens)),
  savedColumn(1, (one) => one.saved_tokens),
  figureColumn('Share', 6, (one) => percent(one.saved_percent)),
  figureColumn('Cache read', 10, (one) => short(one.provider_cache_read_tokens)),
  figureColumn('Paid', 4, (one) => dollars(one.cost)),
  figureColumn('Without svc', 8, (one) => dollars(one.cost_without)),
  figureColumn(
    'Failed',
    7,
    (one) => wholeNumber(one.errors),
    (one) => (one.errors > 0 ? 'bad' : undefined),
  ),
];

export function ConversationsView({ query }: { readonly query: URLSearchParams }) {
  const { value, error } = useFetched<ConversationsJson>(
    query.toString(),
    () => `/dashboard/api/conversations?${queryOf(query).toString()}`,
  );
  const list = value?.conversations;
  return (
    <div class="page">
      <h1>Conversations</h1>
      <FilterBar query={query} />
      <Fault text={error} />
      {list?.length === 0 && (
        <p class="quiet pad">
          None in this range of time. Claude Code and Codex name their conversations; a client that
          does not can send <code>x-session-id</code>.
        </p>
      )}
      {list !== undefined && list.length > 0 && (
        <section class="card flush">
          <Table columns={COLUMNS} rows={list} />
        </section>
      )}
    </div>
  );
}

export function ConversationView({ id }: { readonly id: string }) {
  const query = useMemo(() => new URLSearchParams({ session: id, range: 'all' }), [id]);
  const { rows, error } = useRequests(query);
  const turns = rows?.toReversed() ?? [];
  const max = Math.max(1, ...turns.map((turn) => turn.input_tokens ?? 0));
  const sum = (of: (turn: RequestJson) => number | null): number | null => {
    const known = turns.flatMap((turn) => of(turn) ?? []);
    return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
  };
  return (
    <div class="page">
      <p>
        <Link to="conversations">← Conversations</Link>
      </p>
      <h1 class="clip">{orDash(id)}</h1>
      <Fault text={error} />
      {rows?.length === 0 && <p class="quiet">No request of this conversation is in the ledger.</p>}
      {turns.length > 0 && (
        <p class="quiet">
          {counted(turns.length, 'turn')} · {short(sum((turn) => turn.tokens_saved))} tokens saved ·
          paid {dollars(sum((turn) => turn.cost))}, without svc{' '}
          {dollars(sum((turn) => turn.cost_without))}
        </p>
      )}
      <ol class="turns">
        {turns.map((turn, index) => (
          <Turn
            key={turn.request_id}
            turn={turn}
            number={index + 1}
            max={max}
            before={turns[index - 1]}
          />
        ))}
      </ol>
    </div>
  );
}

interface TurnProps {
  readonly turn: RequestJson;
  readonly number: number;
  /** Input tokens of the largest turn. */
  readonly max: number;
  readonly before: RequestJson | undefined;
}

/** Returns true if tokens in the provider's cache were not read. */
const isLoss = ({ cache_miss: miss }: RequestJson): boolean => (miss?.missed_tokens ?? 0) > 0;

function Turn({ turn, number, max, before }: TurnProps) {
  const miss = turn.cache_miss;
  const raw = turn.input_tokens ?? 0;
  const savedTokens = turn.tokens_saved ?? 0;
  const read = turn.provider_cache_read_tokens;
  const sent = turn.sent_input_tokens;
  const isMeasured = turn.input_tokens !== null || turn.output_tokens !== null;
  const grown =
    before?.input_tokens === undefined || before.input_tokens === null || turn.input_tokens === null
      ? null
      : turn.input_tokens - before.input_tokens;
  return (
    <li class="card">
      <header>
        <h2>
          <Link to="request" id={turn.request_id}>
            Turn {number}
          </Link>{' '}
          <span class="quiet">{time(turn.timestamp)}</span>
        </h2>
        <span>
          <ModelName row={turn} />
        </span>
        <Outcome row={turn} />
      </header>
      <div class="bar thick" aria-hidden="true">
        <i class="mark" style={{ width: `${(100 * Math.max(0, raw - savedTokens)) / max}%` }} />
        <i class="saved" style={{ width: `${(100 * savedTokens) / max}%` }} />
      </div>
      {!isMeasured && <p class="quiet">nothing measured · {duration(turn.latency_ms)}</p>}
      {isMeasured && (
        <>
          <p>
            {short(turn.input_tokens)} in
            {grown !== null && ` (${grown >= 0 ? '+' : '−'}${short(Math.abs(grown))})`} ·{' '}
            <span class={savedTone(turn.tokens_saved)}>{short(turn.tokens_saved)} saved</span> ·{' '}
            {short(turn.output_tokens)} out · {dollars(turn.cost)} · {duration(turn.latency_ms)}
          </p>
          <p class={isLoss(turn) ? 'warn' : 'quiet'}>
            Prompt cache: {short(read)} read
            {read !== null &&
              sent !== null &&
              sent > 0 &&
              `, ${share(read / sent)} of what was sent`}
            {miss !== undefined && `; ${missInWords(miss)}`}
          </p>
        </>
      )}
    </li>
  );
}
