/**
 * One request: its facts, its stages as a waterfall, the attempts at providers, and what
 * compression changed.
 */
import { useEffect, useState } from 'preact/hooks';
import type { LostJson, OneRequestJson, RequestJson, Trace } from '../../contract.ts';
import { ResponseError, getJson } from '../api.ts';
import { GROUP_COLUMNS, NOTHING_HELD, blockGroups } from './block-groups.ts';
import { ATTEMPT_COLUMNS } from '../requests/columns.ts';
import { CopyButton } from '../copy.tsx';
import { Facts } from '../facts.tsx';
import { orDash, wholeNumber } from '../format.ts';
import { Link } from '../frame/link.tsx';
import { localMoment } from '../local-time.ts';
import { onRows } from '../live.ts';
import { Changes } from './request-changes.tsx';
import { CostByUnit } from './request-cost.tsx';
import { NO_STAGES, injectionWords, providerMessages, requestFacts } from './request-facts.ts';
import { ModelName, Outcome } from '../requests/request-columns.tsx';
import { Table } from '../requests/table.tsx';
import { Waterfall } from './waterfall.tsx';
import { Fault, TextWithCode } from '../message-text.tsx';

interface Loaded {
  readonly json: OneRequestJson;
  /** Blocks that compression changed; a string says why none are shown. */
  readonly lost: LostJson | string;
}

async function load(id: string, signal: AbortSignal): Promise<Loaded> {
  const name = encodeURIComponent(id);
  const json = await getJson<OneRequestJson>(`/dashboard/api/request/${name}`, signal);
  if (!mayHaveChanged(json)) return { json, lost: '' };
  const lost = await getJson<LostJson>(`/v1/svc/lost/${name}`, signal).catch((thrown: unknown) =>
    thrown instanceof ResponseError && thrown.status === 403
      ? 'Changes are shown only on the proxy’s own machine.'
      : '',
  );
  return { json, lost };
}

/**
 * Returns false if nothing was removed: fetching the changes would then log an error in the
 * console.
 */
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
  // A request may be viewed before it has ended.
  useEffect(
    () =>
      onRows((rows) => {
        if (rows.some((row) => row.request_id === id)) setRound((known) => known + 1);
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

function Details({ json, lost, id }: Loaded & { readonly id: string }) {
  const { request, trace } = json;
  return (
    <>
      <h1 class="request-title">
        {request === null ? orDash(trace?.model) : <ModelName row={request} />}{' '}
        {request !== null && <Outcome row={request} />}
      </h1>
      <p class="quiet">
        {request !== null && `${localMoment(request.timestamp)} · ${request.endpoint} `}
        <CopyButton text={id} what="the id" label="Copy id" />
      </p>
      <Fault text={trace?.error ?? undefined} />
      <Fault text={trace === null ? undefined : providerMessages(trace).reason} />
      {request !== null && <RequestCard row={request} trace={trace} />}
      <CostByUnit units={json.cost_units} />
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
      <Raw json={json} />
    </>
  );
}

interface CardProps {
  readonly row: RequestJson;
  readonly trace: Trace | null;
}

function RequestCard({ row, trace }: CardProps) {
  const comparedWith = trace?.cache_miss?.compared_with ?? null;
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
        {comparedWith !== null && (
          <div>
            <dt>Its cache is compared with</dt>
            <dd>
              <Link to="request" id={comparedWith}>
                the turn before
              </Link>
            </dd>
          </div>
        )}
        {injection !== undefined && (
          <div class="broad">
            <dt>Added from the vault</dt>
            <dd>{injectionWords(injection)}</dd>
          </div>
        )}
      </Facts>
    </section>
  );
}

/** The input in parts: tokens kept, added from the vault, and saved. */
function TokenBar({ row }: { readonly row: RequestJson }) {
  const { input_tokens: raw, sent_input_tokens: sent, tokens_saved: saved } = row;
  if (raw === null || sent === null || saved === null || raw === 0) return null;
  const added = row.vault_injection?.tokens_added ?? 0;
  const total = raw + added;
  const width = (tokens: number) => ({ width: `${(100 * tokens) / total}%` });
  const parts = [
    ['mark', raw - saved, 'tokens kept'],
    ['orange', added, 'added from the vault'],
    ['saved', saved, 'saved'],
  ] as const;
  return (
    <>
      <div class="token-bar" aria-hidden="true">
        {parts.map(([color, tokens]) => (
          <i key={color} class={color} style={width(tokens)} />
        ))}
      </div>
      <p class="legend">
        {parts.map(
          ([color, tokens, words]) =>
            tokens > 0 && (
              <span key={color}>
                <i class={`swatch ${color}`} aria-hidden="true" /> {wholeNumber(tokens)} {words}
              </span>
            ),
        )}
      </p>
    </>
  );
}

function Attempts({ trace }: { readonly trace: Trace }) {
  const { attempts } = trace;
  if (attempts.length === 0) return null;
  const { other } = providerMessages(trace);
  return (
    <section class="card flush">
      <header>
        <h2>Attempts at providers</h2>
      </header>
      <Table columns={ATTEMPT_COLUMNS} rows={attempts} />
      {other.map((text) => (
        <p key={text} class="quiet inset">
          <TextWithCode text={text} />
        </p>
      ))}
    </section>
  );
}

/** How the blocks are sent, and why, if thinking blocks may be signed over them. */
function Groups({ trace: { stages } }: { readonly trace: Trace }) {
  const groups = blockGroups(stages);
  if (groups === undefined) return null;
  return (
    <section class="card flush">
      <header>
        <h2>How its blocks may be sent</h2>
      </header>
      {groups.length === 0 ? (
        <p class="quiet inset">{NOTHING_HELD}</p>
      ) : (
        <Table columns={GROUP_COLUMNS} rows={groups} />
      )}
    </section>
  );
}

/** All data of the page as JSON, for programs and bug reports. */
function Raw({ json }: { readonly json: OneRequestJson }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="card raw" onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary>Raw</summary>
      {isOpen && <RawText text={inertJson(json)} />}
    </details>
  );
}

function RawText({ text }: { readonly text: string }) {
  return (
    <>
      <p>
        <CopyButton text={text} what="the JSON" label="Copy JSON" />
      </p>
      <pre tabIndex={0}>{text}</pre>
    </>
  );
}

/** Returns JSON with invisible and text-reordering characters escaped. */
function inertJson(json: OneRequestJson): string {
  return JSON.stringify(json, null, 2).replace(/[\p{Cf}\u007f-\u009f\u2028\u2029]/gu, (sign) =>
    sign
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
