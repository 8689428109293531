/**
 * The tools of the MCP server. Each is read-only: it requests a path of the proxy, as a person
 * could, and returns the response as text.
 */
import { SvcError } from '../../engine/index.ts';
import { isObject } from '../../stages/dialect/json-kind.ts';
import { FETCH_TOOL, FETCH_TOOL_OPENING } from '../../stages/originals/fetch-tool.ts';
import type { McpSources } from './sources.ts';

/** Arguments that match the schema. */
export type ToolArguments = Readonly<Record<string, string | number | undefined>>;

export interface McpTool {
  readonly name: string;
  readonly title: string;
  /** Description for the model. */
  readonly description: string;
  /** JSON Schema of the arguments, by name. */
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  /** True if the tool shows conversation texts, which only this machine may see. */
  readonly isPrivate?: true;
  /** True if a client should always show the tool to the model: texts sent to the model name it. */
  readonly isAlwaysLoaded?: true;
  /** Returns the result text. Throws what `read` throws. */
  readonly run: (given: ToolArguments, read: McpSources['read']) => Promise<string>;
}

const json = (value: unknown): string => JSON.stringify(value, null, 1);

/** Members of `/stats` about usage; the requests themselves are left out. */
const USAGE = ['session', 'today', 'by_model', 'by_key', 'by_project', 'by_tool', 'by_mcp_server'];

/**
 * Returns lines of `text`, counted from 1, with their line breaks unchanged.
 *
 * @throws SvcError `bad_request` if there are none.
 */
function linesOf(text: string, first: number, last: number): string {
  const lines = text.split('\n');
  if (last < first)
    throw new SvcError('bad_request', `last_line (${last}) is before first_line (${first})`);
  if (first > lines.length)
    throw new SvcError(
      'bad_request',
      `The text has ${lines.length} lines, so none from ${first} on`,
    );
  return lines.slice(first - 1, last).join('\n');
}

const LINE = { type: 'integer', minimum: 1 };
/** Excludes ids that would lead to another path. */
const ID = { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' };

export const TOOLS: readonly McpTool[] = [
  {
    name: FETCH_TOOL,
    title: 'Fetch a whole result',
    description: `${FETCH_TOOL_OPENING}. Where a result ends with "[svc the whole result: … with id …]", pass that id. Of a long one ask for some lines.`,
    properties: {
      id: { ...ID, description: 'The id in the mark' },
      first_line: {
        ...LINE,
        description: 'First line, counted from 1; by default the first',
      },
      last_line: { ...LINE, description: 'Last line; by default the last' },
    },
    required: ['id'],
    isPrivate: true,
    isAlwaysLoaded: true,
    async run({ id = '', first_line: first = 1, last_line: last = Infinity }, read) {
      const block = await read(`/v1/svc/blocks/${encodeURIComponent(id)}`).catch(throwNotKept);
      if (!isObject(block) || typeof block['before'] !== 'string')
        throw new SvcError('bad_gateway', 'svc answered with no text');
      return linesOf(block['before'], Number(first), Number(last));
    },
  },
  {
    name: 'usage',
    title: 'Usage',
    description:
      'Requests, tokens, cost and savings of the svc proxy: since its start, today, and by model, project and tool.',
    properties: {},
    async run(_given, read) {
      const stats = await read('/stats');
      const members = isObject(stats) ? USAGE.map((name) => [name, stats[name]]) : [];
      return json(Object.fromEntries(members));
    },
  },
  {
    name: 'explain_request',
    title: 'Explain a request',
    description:
      'Why a request through the svc proxy cost what it did, failed, was answered by another provider, missed the prompt cache or saved nothing. Without an id, the newest request.',
    properties: {
      id: {
        ...ID,
        description: 'Id of the request, or its first or last characters',
      },
    },
    async run({ id = 'last' }, read) {
      return json(await read(`/why/${encodeURIComponent(id)}`));
    },
  },
  {
    name: 'limits',
    title: 'Limits',
    description:
      'How much of the plans and rate limits of each provider is used, when each resets, and whether it lasts until then at the current pace.',
    properties: {},
    run: async (_given, read) => json(await read('/limits')),
  },
  {
    name: 'search_vault',
    title: 'Search the vault',
    description:
      "Searches the user's own files that svc has indexed, by words; returns the parts that fit best, with their paths and lines.",
    properties: {
      query: { type: 'string', minLength: 1, maxLength: 500, description: 'Words to look for' },
      top: {
        type: 'integer',
        minimum: 1,
        maximum: 20,
        description: 'Maximum number of results; default 5',
      },
    },
    required: ['query'],
    async run({ query = '', top = 5 }, read) {
      const params = new URLSearchParams({ query: String(query), top: String(top) });
      return json(await read(`/vault/search?${params.toString()}`));
    },
  },
];

/** Tells the model that a text was not kept: it can call the original tool again. */
function throwNotKept(thrown: unknown): never {
  if (!(thrown instanceof SvcError) || thrown.kind !== 'not_found') throw thrown;
  const text = 'svc has no text with this id; it keeps only the newest 32 MB';
  throw new SvcError('not_found', text, { cure: 'Call the tool that returned it again.' });
}
