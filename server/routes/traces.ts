/** `/trace/last`, `/trace/<id>` and `/traces`. */
import { notFound } from '../../stages/model/errors.ts';
import type { Traces } from '../../stages/ledger/traces.ts';
import { getJson } from '../http/router.ts';
import type { Route } from '../http/router.ts';

const ID = /^[A-Za-z0-9_-]{1,64}$/;

export function traceRoutes(traces: Traces): Route[] {
  return [
    getJson('/trace/last', () => {
      const none = { error: 'no_requests', message: 'No request has gone through the proxy yet' };
      return traces.last() ?? none;
    }),
    getJson('/trace/:request_id', (_request, { params: { request_id: id = '' } }) => {
      const trace = ID.test(id) ? traces.get(id) : undefined;
      if (trace === undefined) throw notFound('No trace of that request is kept');
      return trace;
    }),
    getJson('/traces', () => {
      const list = traces.list();
      return { traces: list, count: list.length };
    }),
  ];
}
