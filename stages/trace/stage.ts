/** Keeps how every run went, so that `/trace/<id>` can show it stage by stage. */
import { defineStage } from '../../engine/index.ts';
import type { ProxyFrame } from '../model/frame.ts';
import { modelOf } from '../model/request.ts';
import type { Services } from '../services.ts';

/** Acts only when a run has settled. */
export const trace = defineStage<ProxyFrame, undefined, Services>({
  name: 'trace',
  build: (_config, services) => ({
    settled({ last, outcome, error, durationMs, spans }, ctx) {
      const { head, body } = last;
      const request = head?.request ?? last.request?.request;
      services.traces.add({
        id: ctx.run.id,
        startedMs: ctx.run.startedWallMs,
        endpoint: body === undefined ? '' : body.target.split('?', 1)[0]!,
        model: (request && modelOf(request)) ?? null,
        provider: request?.route?.provider ?? null,
        status: head?.status ?? (error === undefined ? null : services.statusOf(error.kind)),
        outcome,
        durationMs,
        spans,
        // A copy without the room that a list which grew has to spare.
        attempts: (head?.attempts ?? request?.route?.attempts ?? []).slice(),
      });
    },
  }),
});
