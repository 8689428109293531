/**
 * `/v1/svc/blocks/<id>` and `/v1/svc/lost/<request-id>`: what compression took away, for
 * whoever sits at this machine. These are pieces of users' conversations, so a proxy key
 * from elsewhere does not open them.
 */
import { notFound } from '../../stages/model/errors.ts';
import type { KeptBlock, LostBlocks } from '../../stages/lost/lost-blocks.ts';
import type { Route } from '../http/router.ts';

/** Routes over `lost`; `last` stands for the request that came last and lost something. */
export function blockRoutes(lost: LostBlocks): Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/svc/blocks/:id',
      audience: 'this-machine',
      handle(_request, context) {
        const block = lost.get(context.params['id'] ?? '');
        if (block === undefined) throw notFound('No block with that id is kept');
        return Response.json(blockJson(block));
      },
    },
    {
      method: 'GET',
      path: '/v1/svc/lost/:id',
      audience: 'this-machine',
      handle(_request, context) {
        const asked = context.params['id'] ?? '';
        const id = asked === 'last' ? lost.lastRequestId : asked;
        const blocks = id === undefined ? undefined : lost.ofRequest(id);
        if (blocks === undefined) throw notFound(nothingKept(asked));
        return Response.json(lostJson(id ?? asked, blocks));
      },
    },
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

function nothingKept(asked: string): string {
  return asked === 'last'
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
