/** The MCP server over HTTP: every request by itself, without a session. */
import { createMcpHandler } from '@modelcontextprotocol/server';
import { createMcpServers } from './server.ts';
import type { McpSources } from './sources.ts';

/** Nothing that a client could listen for ever happens. */
const MOST_LISTENERS = 8;

/** Answers a POST of a client that may see what `sources` give. */
export function createMcpOverHttp(sources: McpSources): (request: Request) => Promise<Response> {
  return createMcpHandler(createMcpServers(sources), { maxSubscriptions: MOST_LISTENERS }).fetch;
}
