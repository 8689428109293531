/** The tools of the MCP server. Each only reads: it asks a path of the proxy, as a person could, and says what that answered. */
import { isObject } from '../../stages/dialect/json-kind.ts';
import type { McpSources } from './sources.ts';

/** Arguments as their schema lets them through. */
export type ToolArguments = Readonly<Record<string, string | number | undefined>>;

export interface McpTool {
  readonly name: string;
  readonly title: string;
  /** For the model. */
  readonly description: string;
  /** JSON Schema of the arguments, by name. */
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  /** The text that it answers with. Throws what `read` throws. */
  readonly run: (given: ToolArguments, read: McpSources['read']) => Promise<string>;
}

const json = (value: unknown): string => JSON.stringify(value, null, 1);

/** Members of `/stats` that say what was used; the requests themselves are not among them. */
const USAGE = ['session', 'today', 'by_model', 'by_key', 'by_project', 'by_tool', 'by_mcp_server'];

export const TOOLS: readonly McpTool[] = [
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
        type: 'string',
        minLength: 1,
        maxLength: 64,
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
      'How much of the plans and rate limits of each provider is used, when each starts again, and whether it lasts until then at the present pace.',
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
      top: { type: 'integer', minimum: 1, maximum: 20, description: 'Most results; 5 if left out' },
    },
    required: ['query'],
    async run({ query = '', top = 5 }, read) {
      const asked = new URLSearchParams({ query: String(query), top: String(top) });
      return json(await read(`/vault/search?${asked.toString()}`));
    },
  },
];
