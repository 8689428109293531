/**
 * Whether a request lets its provider search or act. Its next result may differ, and a cached
 * response would omit the actions.
 */
import { runsAtProvider } from '../dialect/translate/hosted.ts';
import { isObject, listOf, objectsOf, stringOf } from '../dialect/json-kind.ts';
import type { JsonObject } from '../dialect/json-kind.ts';

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

/** Members that request a search by the provider, or tools of other servers. */
const PROVIDER_ACTION_MEMBERS = ['web_search_options', 'search_parameters', 'plugins'];

/**
 * Returns true if the provider itself may search, run code or call other servers for the answer.
 */
export function letsProviderAct(body: JsonObject): boolean {
  if (
    PROVIDER_ACTION_MEMBERS.some((name) => isSet(body[name])) ||
    listOf(body['mcp_servers']).length > 0
  )
    return true;
  const { tools } = body;
  return (isObject(tools) ? [tools] : objectsOf(tools)).some((tool) => {
    const type = stringOf(tool['type']);
    if (type !== undefined) return runsAtProvider(type);
    // In the generative dialect the tool's name is a member name; elsewhere a tool without a type
    // runs at the client.
    const isNamed = 'name' in tool || 'function' in tool;
    return !isNamed && Object.keys(tool).some((name) => !CLIENT_TOOL_MEMBERS.has(name));
  });
}

const CLIENT_TOOL_MEMBERS: ReadonlySet<string> = new Set([
  'functionDeclarations',
  'function_declarations',
]);
