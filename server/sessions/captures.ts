/**
 * Reads a proxy's captures as conversations: a request that begins with all of an earlier one
 * continues it, and any other starts a new conversation.
 */
import { readFile } from 'node:fs/promises';
import type { CaptureRecord } from '../../stages/captures/record.ts';
import { decodeRecords } from '../../stages/captures/decode.ts';
import type { TranslatableDialect } from '../../stages/dialect/canonical.ts';
import { resolveEndpoint } from '../../stages/dialect/endpoints.ts';
import { isObject, parseJson, stringOf } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { headerValue } from '../../stages/model/headers.ts';
import { decodeBody } from '../../stages/wire/decode.ts';
import { eventsIn } from '../../stages/wire/events.ts';
import { encodingToUndo } from '../http/body-frame.ts';
import { continues, itemHashes } from './conversation-prefix.ts';
import { itemsIn, itemsMember } from './session.ts';
import type { Conversation, SessionFile, SessionRequest } from './session.ts';

/** More than any provider accepts. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;

/** Throws `bad_request` if not even the first record can be read. */
export async function readCaptured(path: string): Promise<SessionFile> {
  const { records, rest } = decodeRecords(await readFile(path));
  return {
    conversations: await conversationsOf(records),
    unread: rest === undefined ? 0 : 1,
  };
}

interface Draft {
  readonly key: string;
  readonly dialect: TranslatableDialect;
  readonly client: string;
  readonly sessionId: string;
  params: JsonObject;
  items: readonly unknown[];
  hashes: readonly string[];
  readonly requests: SessionRequest[];
  answer: unknown;
}

/** Returns the conversations, without failed requests and those of unsupported dialects. */
async function conversationsOf(
  records: readonly CaptureRecord[],
): Promise<readonly Conversation[]> {
  const drafts: Draft[] = [];
  for (const record of records.toSorted((a, b) => a.startedMs - b.startedMs)) {
    if (record.row.outcome === 'error') continue;
    const read = await bodyIn(record);
    if (read === undefined) continue;
    const { dialect, body } = read;
    const items = itemsIn(dialect, body);
    const client = record.row.client ?? 'other';
    const key = `${dialect} ${client} ${record.row.sessionId ?? ''}`;
    const hashes = itemHashes(items);
    const { [itemsMember(dialect)]: _items, ...params } = body;
    const before = drafts.findLast((one) => one.key === key && continues(one.hashes, hashes));
    const draft =
      before ??
      ({
        key,
        dialect,
        client,
        sessionId: record.row.sessionId ?? record.id,
        params,
        items,
        hashes,
        requests: [],
        answer: undefined,
      } satisfies Draft);
    if (before === undefined) drafts.push(draft);
    Object.assign(draft, { params, items, hashes, answer: answerIn(record, dialect) });
    draft.requests.push({
      items: items.length,
      atMs: record.startedMs,
      model: stringOf(body['model']) ?? record.row.model,
      // The provider's usage is that of the request as compressed by svc.
      usage: null,
      id: record.id,
    });
  }
  return drafts.map(({ dialect, client, sessionId, params, items, requests, answer }) => ({
    client,
    sessionId,
    dialect,
    params,
    items: answer === undefined ? items : [...items, answer],
    requests,
  }));
}

async function bodyIn({ request }: CaptureRecord) {
  const { method, target, headers, body } = request;
  const endpoint = resolveEndpoint(method, target, headers);
  if (endpoint === undefined || 'allow' in endpoint || endpoint.operation !== 'generate')
    return undefined;
  const { dialect } = endpoint;
  if (dialect === 'opaque') return undefined;
  const encoding = encodingToUndo(endpoint, headerValue(headers, 'content-encoding'));
  const bytes = await decodeBody(Buffer.from(body), encoding, MAX_BODY_BYTES);
  const json = parseJson(bytes.toString());
  return isObject(json) ? { dialect, body: json } : undefined;
}

/** Members of responses with the model's text; not its thinking, and not the input of its calls. */
const TEXT_MEMBERS = new Set(['text', 'content', 'delta']);

/** Returns the model's last text as an item, since no later request contains it. */
function answerIn({ answer }: CaptureRecord, dialect: TranslatableDialect): unknown {
  if (answer.head?.status !== 200) return undefined;
  const bytes = Buffer.from(answer.body.bytes);
  const text = answer.head.streaming
    ? eventsIn({ bytes, isPart: false, before: 0 })
        .map(({ data }) => (data === undefined ? '' : textIn(parseJson(data))))
        .join('')
    : textIn(parseJson(bytes.toString()));
  if (text === '') return undefined;
  if (dialect === 'generative') return { role: 'model', parts: [{ text }] };
  if (dialect === 'responses')
    return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
  return { role: 'assistant', content: text };
}

function textIn(value: unknown): string {
  if (Array.isArray(value)) return value.map(textIn).join('');
  if (!isObject(value)) return '';
  const { type } = value;
  if (type === 'thinking' || type === 'tool_use' || value['thought'] === true) return '';
  // The end of a response repeats what its deltas said.
  if (typeof type === 'string' && /\.(?:done|completed)$/.test(type)) return '';
  if (typeof type === 'string' && /arguments|reasoning/.test(type)) return '';
  return Object.entries(value)
    .map(([name, one]) =>
      typeof one === 'string' ? (TEXT_MEMBERS.has(name) ? one : '') : textIn(one),
    )
    .join('');
}
