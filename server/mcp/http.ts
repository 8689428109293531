/** The MCP server over HTTP: every request is independent, without a session. */
import { createMcpHandler } from '@modelcontextprotocol/server';
import { createMcpServers } from './server.ts';
import type { McpSources } from './sources.ts';

/** There are no events to which a client could subscribe. */
const MAX_LISTENERS = 8;

/** Returns the handler of POSTs, for clients that may see what `sources` return. */
export function createMcpOverHttp(sources: McpSources): (request: Request) => Promise<Response> {
  return createMcpHandler(createMcpServers(sources), { maxSubscriptions: MAX_LISTENERS }).fetch;
}
