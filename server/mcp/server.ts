/**
 * The MCP server, based on the official SDK. It is loaded by the first MCP client and by `svc mcp`,
 * never by a start of the proxy or by another command.
 */
import { McpServer, fromJsonSchema } from '@modelcontextprotocol/server';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { SvcError } from '../../engine/index.ts';
import { addPrompts } from './prompts.ts';
import { createGuideResources } from './resources.ts';
import type { McpSources } from './sources.ts';
import { TOOLS } from './tools.ts';
import type { McpTool, ToolArguments } from './tools.ts';

const INSTRUCTIONS =
  'svc is the local proxy through which this client talks to its model provider. These tools look at what it did; none changes anything.';

/** All tools are read-only, and only read from this proxy. */
const ANNOTATIONS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

/** Claude Code makes the model search for other tools. */
const ALWAYS_LOADED = { 'anthropic/alwaysLoad': true };

/** The lists do not change while a client is connected. */
const FIXED = { listChanged: false };

/** Returns the factory that makes a server per connection, or per HTTP request. */
export function createMcpServers(sources: McpSources): () => Promise<McpServer> {
  const { version, home, isThisMachine, read } = sources;
  const tools = TOOLS.filter((tool) => isThisMachine || tool.isPrivate !== true).map(toDeclaration);
  const guides = createGuideResources();
  return async () => {
    const server = new McpServer(
      { name: 'svc', title: 'svc', version },
      {
        capabilities: { tools: FIXED, resources: FIXED, ...(isThisMachine && { prompts: FIXED }) },
        instructions: INSTRUCTIONS,
      },
    );
    for (const { tool, config } of tools)
      server.registerTool(tool.name, config, (args: ToolArguments) => answer(tool, args, read));
    await guides.addTo(server);
    if (isThisMachine) await addPrompts(server, home);
    return server;
  };
}

function toDeclaration(tool: McpTool) {
  const { title, description, properties, required = [], isAlwaysLoaded } = tool;
  const inputSchema = fromJsonSchema<ToolArguments>({
    type: 'object',
    properties: { ...properties },
    required: [...required],
    additionalProperties: false,
  });
  const meta = isAlwaysLoaded === true && { _meta: ALWAYS_LOADED };
  return { tool, config: { title, description, inputSchema, annotations: ANNOTATIONS, ...meta } };
}

/** Returns the tool's text; a refusal is a result for the model, not a protocol error. */
async function answer(
  tool: McpTool,
  args: ToolArguments,
  read: McpSources['read'],
): Promise<CallToolResult> {
  try {
    return { content: [{ type: 'text', text: await tool.run(args, read) }] };
  } catch (thrown) {
    if (!(thrown instanceof SvcError)) throw thrown;
    const text = [thrown.message, thrown.cure].filter((part) => part !== undefined).join('. ');
    return { content: [{ type: 'text', text }], isError: true };
  }
}
