/**
 * The tool with which a model fetches a result that svc shortened. The MCP server declares it,
 * clients pass it on under a name of their own, and in a request it is found by name and
 * description.
 */
import { createHash } from 'node:crypto';
import { definitionsIn } from '../dialect/tool-definitions.ts';

/** Its name in the MCP server. */
export const FETCH_TOOL = 'get_block';
/** Beginning of its description, whatever a client adds before or after it. */
export const FETCH_TOOL_OPENING = 'Returns a tool result whole that the svc proxy shortened';

const NAME = /(?:^|[^A-Za-z0-9])get_block$/;
const ID_CHARS = 12;

/** Returns the id of a text: 12 characters of base64url, from its hash. */
export function textId(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, ID_CHARS);
}

/**
 * Returns the client's name of the tool in a request, such as `mcp__svc__get_block`; undefined if
 * the client does not have it, or loads it only after the model has searched for it.
 */
export function fetchToolIn(body: unknown): string | undefined {
  const definition = definitionsIn(body).find(
    ({ name, description, isDeferred }) =>
      !isDeferred && NAME.test(name) && description?.text.includes(FETCH_TOOL_OPENING) === true,
  );
  if (definition === undefined) return undefined;
  const { name, namespace } = definition;
  return namespace === undefined ? name : `${namespace}__${name}`;
}

/**
 * Returns true if `toolName` in a call is the `tool` of `fetchToolIn`: for a namespace, a call
 * names only the last part.
 */
export function isFetchTool(tool: string, toolName: string | undefined): boolean {
  return toolName === tool || (toolName === FETCH_TOOL && tool.endsWith(`__${FETCH_TOOL}`));
}
