/**
 * References in a request to what its provider stores: an earlier response, a conversation, a file,
 * a cached prefix. No other server has it; one that does not know the field answers without it,
 * unnoticed, although the conversation has no beginning.
 */
import type { ProxyRequest } from '../../model/request.ts';
import { filledString, isObject, objectOf, objectsOf } from '../../dialect/json-kind.ts';
import type { JsonObject } from '../../dialect/json-kind.ts';

/** Names the stored thing, or undefined if the request is self-contained. */
export function storedPart({ original }: ProxyRequest): string | undefined {
  const { json, endpoint } = original;
  if (!isObject(json)) return undefined;
  switch (endpoint.dialect) {
    case 'responses':
      return ofResponses(json);
    case 'chat':
      return ofChat(json);
    case 'generative':
      return ofGenerative(json);
    case 'messages':
      return ofMessages(json);
    default:
      return undefined;
  }
}

const FILE = 'a stored file';

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

function ofResponses(body: JsonObject): string | undefined {
  if (isSet(body['previous_response_id'])) return 'the response that previous_response_id names';
  if (isSet(body['conversation'])) return 'the stored conversation';
  if (isObject(body['prompt'])) return 'the stored prompt';
  // Its client fetches it by its id, from the path's own provider.
  if (body['background'] === true)
    return 'a place from which to fetch an answer made in the background';
  const items = objectsOf(body['input']);
  if (items.some(({ type, id }) => type === 'item_reference' && isSet(id))) return 'a stored item';
  const parts = items.flatMap(({ content, output }) => [
    ...objectsOf(content),
    ...objectsOf(output),
    objectOf(output),
  ]);
  if (parts.some(({ file_id }) => isSet(file_id))) return FILE;
  return objectsOf(body['tools']).some(isStoredTool) ? 'what its tools work on' : undefined;
}

/** Searches in stored files, and existing containers. */
function isStoredTool({ vector_store_ids, container, environment }: JsonObject): boolean {
  const named = container ?? objectOf(environment)['container_id'];
  return Array.isArray(vector_store_ids) || filledString(named) !== undefined;
}

function ofChat(body: JsonObject): string | undefined {
  for (const { content, audio } of objectsOf(body['messages'])) {
    if (isSet(objectOf(audio)['id'])) return 'a stored spoken answer';
    if (objectsOf(content).some(({ file }) => isSet(objectOf(file)['file_id']))) return FILE;
  }
  return undefined;
}

function ofGenerative(body: JsonObject): string | undefined {
  if (isSet(body['cachedContent'] ?? body['cached_content'])) return 'the cached content';
  const parts = objectsOf(body['contents']).flatMap(({ parts: list }) => objectsOf(list));
  const addresses = parts.map((part) => {
    const file = objectOf(part['fileData'] ?? part['file_data']);
    return filledString(file['fileUri'] ?? file['file_uri']);
  });
  return addresses.some((address) => address !== undefined && OWN_FILE.test(address))
    ? FILE
    : undefined;
}

/** Files in the provider's own store; any server can fetch other addresses. */
const OWN_FILE = /^(?:files\/|https:\/\/generativelanguage\.[^/]+\/)/;

function ofMessages(body: JsonObject): string | undefined {
  if (filledString(body['container']) !== undefined) return 'the stored container';
  // A thread is created anywhere, and continued where it is kept.
  if (isSet(objectOf(body['thread'])['previous_message_id'])) return 'the stored thread';
  const blocks = objectsOf(body['messages']).flatMap(({ content }) =>
    objectsOf(content).flatMap((block) => [block, ...objectsOf(block['content'])]),
  );
  return blocks.some(({ source }) => isSet(objectOf(source)['file_id'])) ? FILE : undefined;
}
