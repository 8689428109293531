/** One request: what it was, its stages as a waterfall, the attempts at providers, and what compression changed. */
import { useEffect, useState } from 'preact/hooks';
import type { LostJson, OneRequestJson, RequestJson, Trace } from '../contract.ts';
import { ResponseError, getJson } from './api.ts';
import { BlockDiff } from './block-diff.tsx';
import { GROUP_COLUMNS, NOTHING_HELD, blockGroups } from './block-groups.ts';
import { ATTEMPT_COLUMNS } from './columns.ts';
import { Facts } from './facts.tsx';
import { orDash, whole } from './format.ts';
import { Link } from './link.tsx';
import { localMoment } from './local-time.ts';
import { onRows } from './live.ts';
import { NO_STAGES, injectionWords, requestFacts } from './request-facts.ts';
import { ModelName, Outcome } from './request-columns.tsx';
import { Table } from './table.tsx';
import { Waterfall } from './waterfall.tsx';
import { Fault } from './words.tsx';

interface Loaded {
  readonly json: OneRequestJson;
  /** Blocks that compression changed; a text says why there are none to show. */
  readonly lost: LostJson | string;
}

async function load(id: string, signal: AbortSignal): Promise<Loaded> {
  const name = encodeURIComponent(id);
  const json = await getJson<OneRequestJson>(`/dashboard/api/request/${name}`, signal);
  if (!mayHaveChanged(json)) return { json, lost: '' };
  const lost = await getJson<LostJson>(`/v1/svc/lost/${name}`, signal).catch((thrown: unknown) =>
    thrown instanceof ResponseError && thrown.status === 403
      ? 'What was changed is shown on the proxy’s own machine alone.'
      : '',
  );
  return { json, lost };
}

/** What nothing was taken from is not asked for: each such json is an error in the browser's console. */
function mayHaveChanged({ request, trace }: OneRequestJson): boolean {
  if (trace === null) return (request?.tokens_saved ?? 0) > 0;
  return trace.stages.some(
    (stage) => Number(stage['blocks_changed'] ?? 0) > 0 || Number(stage['tools_trimmed'] ?? 0) > 0,
  );
}

export function RequestView({ id }: { readonly id: string }) {
  const [loaded, setLoaded] = useState<Loaded>();
  const [error, setError] = useState<string>();
  const [round, setRound] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    setLoaded(undefined);
    setError(undefined);
    load(id, abort.signal).then(setLoaded, (thrown: unknown) => {
      if (!abort.signal.aborted)
        setError(thrown instanceof Error ? thrown.message : String(thrown));
    });
    return () => abort.abort();
  }, [id, round]);
  // Somebody may look at a request before it has ended.
  useEffect(
    () =>
      onRows((rows) => {
        if (rows.some((one) => one.request_id === id)) setRound((known) => known + 1);
      }),
    [id],
  );
  return (
    <div class="page">
      <p>
        <Link to="requests">← Requests</Link>
      </p>
      {error !== undefined && <h1 class="request-title">Request {orDash(id)}</h1>}
      <Fault text={error} />
      {loaded === undefined && error === undefined && <p class="quiet">Loading…</p>}
      {loaded !== undefined && <Details {...loaded} id={id} />}
    </div>
  );
}

function Details({ json: { request, trace }, lost, id }: Loaded & { readonly id: string }) {
  return (
    <>
      <h1 class="request-title">
        {request === null ? orDash(trace?.model) : <ModelName row={request} />}{' '}
        {request !== null && <Outcome row={request} />}
      </h1>
      <p class="quiet">
        <code>{id}</code>
        {request !== null && ` · ${localMoment(request.timestamp)} · ${request.endpoint}`}
      </p>
      <Fault text={trace?.error ?? undefined} />
      {request !== null && <RequestCard row={request} />}
      {trace === null ? (
        <p class="quiet card">{NO_STAGES}</p>
      ) : (
        <>
          <Waterfall trace={trace} />
          <Attempts trace={trace} />
          <Groups trace={trace} />
        </>
      )}
      <Changes lost={lost} {...(request !== null && { row: request })} trace={trace} />
    </>
  );
}

function RequestCard({ row }: { readonly row: RequestJson }) {
  const injection = row.vault_injection;
  return (
    <section class="card">
      <TokenBar row={row} />
      <Facts rows={requestFacts(row)}>
        <div>
          <dt>Conversation</dt>
          <dd>
            {row.session_id === null ? (
              '–'
            ) : (
              <Link to="conversation" id={row.session_id}>
                {row.session_id}
              </Link>
            )}
          </dd>
        </div>
        {injection !== undefined && (
          <div class="broad">
            <dt>Added from the vault</dt>
            <dd>
              {injectionWords(injection)}
              <ul class="plain-list">
                {injection.top_chunks.map((chunk) => (
                  <li key={chunk}>
                    <code>{chunk}</code>
                  </li>
                ))}
              </ul>
            </dd>
          </div>
        )}
      </Facts>
    </section>
  );
}

/** The input as the client sent it, divided into what went out and what was taken away. */
function TokenBar({ row }: { readonly row: RequestJson }) {
  const { input_tokens: raw, sent_input_tokens: sent, tokens_saved: saved } = row;
  if (raw === null || sent === null || saved === null || raw === 0) return null;
  const added = row.vault_injection?.tokens_added ?? 0;
  const total = raw + added;
  const width = (tokens: number) => ({ width: `${(100 * tokens) / total}%` });
  return (
    <div
      class="token-bar"
      role="img"
      aria-label={`${whole(raw - saved)} tokens kept, ${whole(added)} added, ${whole(saved)} saved`}
    >
      <i class="mark" style={width(raw - saved)} title="kept" />
      <i class="orange" style={width(added)} title="added from the vault" />
      <i class="saved" style={width(saved)} title="saved" />
    </div>
  );
}

function Attempts({ trace: { attempts } }: { readonly trace: Trace }) {
  if (attempts.length === 0) return null;
  return (
    <section class="card flush">
      <header>
        <h2>Attempts at providers</h2>
      </header>
      <Table columns={ATTEMPT_COLUMNS} rows={attempts} />
    </section>
  );
}

/** What may become of its blocks, where a thought may be signed over them. */
function Groups({ trace: { stages } }: { readonly trace: Trace }) {
  const groups = blockGroups(stages);
  if (groups === undefined) return null;
  return (
    <section class="card flush">
      <header>
        <h2>What may become of its blocks</h2>
      </header>
      {groups.length === 0 ? (
        <p class="quiet">{NOTHING_HELD}</p>
      ) : (
        <Table columns={GROUP_COLUMNS} rows={groups} />
      )}
    </section>
  );
}

interface ChangesProps {
  readonly lost: LostJson | string;
  readonly row?: RequestJson;
  readonly trace: Trace | null;
}

function Changes({ lost, row, trace }: ChangesProps) {
  const because = trace?.stages
    .map((stage) => stage['not_compressed_because'])
    .find((reason) => typeof reason === 'string');
  const blocks = typeof lost === 'string' ? [] : lost.blocks;
  const none =
    typeof lost === 'string' && lost !== ''
      ? lost
      : typeof because === 'string'
        ? `Nothing was changed: ${because}.`
        : (row?.tokens_saved ?? 0) > 0
          ? 'What was removed is no longer kept.'
          : 'Nothing was changed.';
  return (
    <section aria-labelledby="changes">
      <h2 id="changes" class="section-title">
        What compression changed
      </h2>
      {blocks.length === 0 ? (
        <p class="quiet">{none}</p>
      ) : (
        blocks.map((block) => <BlockDiff key={block.index} block={block} />)
      )}
    </section>
  );
}
