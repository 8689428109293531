/** `/trace/last`, `/trace/<id>` and `/traces`. */
import { notFound } from '../../stages/model/errors.ts';
import type { Traces } from '../../stages/ledger/traces.ts';
import type { Route } from '../http/router.ts';

const ID = /^[A-Za-z0-9_-]{1,64}$/;

export function traceRoutes(traces: Traces): Route[] {
  return [
    {
      method: 'GET',
      path: '/trace/last',
      handle() {
        const last = traces.last();
        const none = { error: 'no_requests', message: 'No request has gone through the proxy yet' };
        return Response.json(last ?? none);
      },
    },
    {
      method: 'GET',
      path: '/trace/:id',
      handle(_request, { params }) {
        const id = params['id'] ?? '';
        const trace = ID.test(id) ? traces.get(id) : undefined;
        if (trace === undefined) throw notFound('No trace of that request is kept');
        return Response.json(trace);
      },
    },
    {
      method: 'GET',
      path: '/traces',
      handle() {
        const list = traces.list();
        return Response.json({ traces: list, count: list.length });
      },
    },
  ];
}
