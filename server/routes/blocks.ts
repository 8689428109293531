/**
 * `/v1/svc/blocks/<id>` and `/v1/svc/lost/<request-id>`: the originals that compression removed,
 * for users of this machine. They are pieces of users' conversations, so a proxy key from elsewhere
 * gives no access.
 */
import { notFound } from '../../stages/model/errors.ts';
import type { KeptBlock, Originals } from '../../stages/originals/originals.ts';
import { getJson } from '../http/router.ts';
import type { Route } from '../http/router.ts';

/** Routes over the kept originals; `last` names the newest request that lost something. */
export function blockRoutes(originals: Originals): Route[] {
  const oneBlock = (id: string) => {
    const block = originals.get(id);
    if (block === undefined) throw notFound('No block with that id is kept');
    return blockJson(block);
  };
  const ofRequest = (requestId: string) => {
    const id = requestId === 'last' ? originals.lastRequestId : requestId;
    const blocks = id === undefined ? undefined : originals.ofRequest(id);
    if (blocks === undefined) throw notFound(nothingKept(requestId));
    return lostJson(id ?? requestId, blocks);
  };
  return [
    getJson(
      '/v1/svc/blocks/:id',
      (_request, { params }) => oneBlock(params['id'] ?? ''),
      'this-machine',
    ),
    getJson(
      '/v1/svc/lost/:id',
      (_request, { params }) => ofRequest(params['id'] ?? ''),
      'this-machine',
    ),
  ];
}

function lostJson(id: string, blocks: readonly KeptBlock[]) {
  return {
    request_id: id,
    blocks: blocks.map((block) => ({ index: block.index, ...blockJson(block) })),
  };
}

/** `/v1/svc/lost/<request-id>`. */
export type LostJson = ReturnType<typeof lostJson>;

function nothingKept(id: string): string {
  return id === 'last'
    ? 'Nothing has been removed from any request yet'
    : 'Nothing removed from that request is kept';
}

function blockJson(block: KeptBlock) {
  return {
    id: block.id,
    kind: block.kind,
    tool: block.toolName,
    by: block.by,
    tokens: { before: block.tokensBefore, after: block.tokensAfter },
    before: block.before,
    after: block.after,
  };
}
