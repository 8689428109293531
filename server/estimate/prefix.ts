/**
 * Costs of the tools in request prefixes, and which were never called: from session files with tool
 * definitions, and from captures. Reports names and sizes, no contents.
 */
import type { CaptureRecord } from '../../stages/captures/record.ts';
import type { TranslatableDialect } from '../../stages/dialect/canonical.ts';
import { resolveEndpoint } from '../../stages/dialect/endpoints.ts';
import { isObject, listOf, parseJson, stringOf } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import type { Prices } from '../../stages/ledger/prices/prices.ts';
import type { CountTokens } from '../../stages/model/count-tokens.ts';
import { emptyUsage, totalInputTokens } from '../../stages/model/usage.ts';
import type { Usage } from '../../stages/model/usage.ts';
import { asRequest } from '../sessions/as-request.ts';
import { bodyOf } from '../sessions/session.ts';
import type { Conversation } from '../sessions/session.ts';
import { providerOf, withoutParts } from './input-cost.ts';

/** A tool of a client, over all sessions that define it. */
export interface ToolCost {
  readonly client: string;
  readonly name: string;
  /** Tokens of its definition, the largest seen. */
  readonly tokens: number;
  readonly sessions: number;
  /** Sessions in which it was called. */
  readonly calledIn: number;
  readonly requests: number;
  /** Cost of its definition in all requests; null if none could be priced. */
  readonly costNanoUsd: number | null;
  /** The part of that cost in sessions that never called it. */
  readonly unusedNanoUsd: number | null;
}

export interface PrefixReport {
  readonly tools: readonly ToolCost[];
  readonly sessions: number;
  readonly requests: number;
  /** Requests without the provider's usage or a known price; they are in no cost. */
  readonly unpriced: number;
  /** Conversations whose file has no tool definitions, and sessions captured without any. */
  readonly withoutTools: number;
}

export interface PrefixOptions {
  readonly prices: Prices;
  readonly counterFor: (model: string) => Promise<CountTokens>;
  /** Counts only requests sent since then, in milliseconds since the epoch. */
  readonly sinceMs: number;
  /** Used to price requests without a known time. */
  readonly nowMs: number;
}

const keyOf = (client: string, sessionId: string): string => `${client}\n${sessionId}`;

/** The relevant facts of one request. */
interface SentRequest {
  readonly atMs: number | null;
  readonly model: string | null;
  readonly usage: Usage | null;
}

interface ToolSums {
  tokens: number;
  requests: number;
  priced: number;
  costNanoUsd: number;
  isCalled: boolean;
}

export function createPrefixReport(options: PrefixOptions) {
  const sessions = new Map<string, { client: string; tools: Map<string, ToolSums> }>();
  const counts = { requests: 0, unpriced: 0, withoutTools: 0 };
  const bareCaptures = new Set<string>();

  /** False if no tools are defined. */
  const add = async (
    client: string,
    sessionId: string,
    source: Pick<Conversation, 'dialect' | 'vendor'>,
    body: JsonObject,
    requests: readonly SentRequest[],
    answers: readonly JsonObject[],
  ): Promise<boolean> => {
    const sent = requests.filter(({ atMs }) => atMs === null || atMs >= options.sinceMs);
    const tools = toolsIn(body);
    if (sent.length === 0) return true;
    if (tools.length === 0) return false;
    const key = keyOf(client, sessionId);
    const session = sessions.get(key) ?? { client, tools: new Map<string, ToolSums>() };
    sessions.set(key, session);
    const count = await options.counterFor(sent[0]!.model ?? '');
    const called = calledIn(source.dialect, body, answers);
    for (const { name, text } of tools) {
      const sums = session.tools.get(name) ?? emptySums();
      session.tools.set(name, sums);
      const tokens = count(text);
      sums.tokens = Math.max(sums.tokens, tokens);
      sums.requests += sent.length;
      sums.isCalled ||= called.has(name);
      for (const request of sent) {
        const cost = costAtFront(tokens, request, source, options);
        if (cost === null) continue;
        sums.priced += 1;
        sums.costNanoUsd += cost;
      }
    }
    counts.requests += sent.length;
    counts.unpriced += sent.filter((one) => costAtFront(1, one, source, options) === null).length;
    return true;
  };

  return {
    /** Adds a conversation of a session file. */
    async takeConversation(conversation: Conversation): Promise<void> {
      const { client, sessionId, requests, items } = conversation;
      const answers = requests.flatMap(({ answer }) => (answer === undefined ? [] : [answer]));
      const body = bodyOf(conversation, items.length);
      const hasTools = await add(client, sessionId, conversation, body, requests, answers);
      if (!hasTools) counts.withoutTools += 1;
    },
    /** Adds a captured request. */
    async takeCapture(record: CaptureRecord): Promise<void> {
      const { request, row, startedMs } = record;
      const endpoint = resolveEndpoint(request.method, request.target, request.headers);
      const body = parseJson(Buffer.from(request.body).toString());
      const dialect = endpoint === undefined || 'allow' in endpoint ? undefined : endpoint.dialect;
      if (!isObject(body) || dialect === undefined || dialect === 'opaque') return;
      const sent = { atMs: startedMs, model: row.model, usage: usageOf(row) };
      const session = row.sessionId ?? asRequest(dialect, body).original.conversation();
      // Each turn of a session is a separate record.
      const client = row.client ?? 'unknown';
      if (!(await add(client, session, { dialect }, body, [sent], [])))
        bareCaptures.add(keyOf(client, session));
    },
    end: (): PrefixReport => ({
      ...counts,
      sessions: sessions.size,
      // Small requests, such as one for a title, have no tools even in a session that has some.
      withoutTools:
        counts.withoutTools + [...bareCaptures].filter((key) => !sessions.has(key)).length,
      tools: costsOf([...sessions.values()]),
    }),
  };
}

const emptySums = (): ToolSums => ({
  tokens: 0,
  requests: 0,
  priced: 0,
  costNanoUsd: 0,
  isCalled: false,
});

function costsOf(
  sessions: readonly { client: string; tools: ReadonlyMap<string, ToolSums> }[],
): readonly ToolCost[] {
  const found = new Map<string, { client: string; name: string; uses: ToolSums[] }>();
  for (const { client, tools } of sessions) {
    for (const [name, sums] of tools) {
      const key = `${client}\n${name}`;
      const toolCost = found.get(key) ?? { client, name, uses: [] };
      toolCost.uses.push(sums);
      found.set(key, toolCost);
    }
  }
  const sum = (uses: readonly ToolSums[], of: 'requests' | 'priced' | 'costNanoUsd'): number =>
    uses.reduce((total, use) => total + use[of], 0);
  const cost = (uses: readonly ToolSums[], isPriced: boolean): number | null =>
    isPriced ? sum(uses, 'costNanoUsd') : null;
  return [...found.values()]
    .map(({ client, name, uses }) => {
      const isPriced = sum(uses, 'priced') > 0;
      return {
        client,
        name,
        tokens: Math.max(...uses.map(({ tokens }) => tokens)),
        sessions: uses.length,
        calledIn: uses.filter(({ isCalled }) => isCalled).length,
        requests: sum(uses, 'requests'),
        costNanoUsd: cost(uses, isPriced),
        unusedNanoUsd: cost(
          uses.filter(({ isCalled }) => !isCalled),
          isPriced,
        ),
      };
    })
    .toSorted((a, b) => (b.unusedNanoUsd ?? 0) - (a.unusedNanoUsd ?? 0) || b.tokens - a.tokens);
}

/** Tools come before everything else, so they are the first tokens read from the cache. */
function costAtFront(
  tokens: number,
  { usage, model, atMs }: SentRequest,
  source: Pick<Conversation, 'dialect' | 'vendor'>,
  { prices, nowMs }: PrefixOptions,
): number | null {
  const total = usage === null ? null : totalInputTokens(usage);
  if (usage === null || total === null) return null;
  const input = { ...usage, outputTokens: null };
  const without = withoutParts(input, total, [{ fromEnd: total, tokens, saved: tokens }]);
  const cost = (of: Usage) =>
    prices.costNanoUsd(providerOf(source), model ?? '', of, atMs ?? nowMs);
  const [before, after] = [cost(input), cost(without)];
  return before === null || after === null ? null : before - after;
}

interface Tool {
  readonly name: string;
  /** Its definition as JSON. */
  readonly text: string;
}

/** Returns the tools in a body of any dialect, including those among its items. */
function toolsIn(body: JsonObject): readonly Tool[] {
  const added = listOf(body['input']).flatMap((item) =>
    isObject(item) && item['type'] === 'additional_tools' ? listOf(item['tools']) : [],
  );
  return [...listOf(body['tools']), ...added].flatMap((tool) => {
    if (!isObject(tool)) return [];
    const inside = tool['type'] === 'namespace' ? tool['tools'] : tool['functionDeclarations'];
    const declared = listOf(inside).filter(isObject);
    if (declared.length > 0) return declared.map((one) => toNamedTool(one, one));
    return [toNamedTool(tool, isObject(tool['function']) ? tool['function'] : tool)];
  });
}

function toNamedTool(tool: JsonObject, { name, type }: JsonObject): Tool {
  return { name: stringOf(name) ?? stringOf(type) ?? 'unnamed', text: JSON.stringify(tool) };
}

function calledIn(
  dialect: TranslatableDialect,
  body: JsonObject,
  answers: readonly JsonObject[],
): ReadonlySet<string> {
  const names = asRequest(dialect, body)
    .original.blocks()
    .flatMap(({ kind, toolName }) =>
      (kind === 'tool_use' || kind === 'tool_result') && toolName !== undefined ? [toolName] : [],
    );
  const answered = answers.flatMap(({ content }) =>
    listOf(content).flatMap((part) =>
      isObject(part) && part['type'] === 'tool_use' ? [String(part['name'])] : [],
    ),
  );
  return new Set([...names, ...answered]);
}

function usageOf(row: CaptureRecord['row']): Usage {
  const { inputTokensSent: input, cacheReadTokens: read, cacheWriteTokens: written } = row;
  return {
    ...emptyUsage,
    inputTokens: input === null ? null : Math.max(0, input - (read ?? 0) - (written ?? 0)),
    cacheReadTokens: read,
    cacheWriteTokens: written,
  };
}
