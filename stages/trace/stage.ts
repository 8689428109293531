/** Records how every run went, so that `/trace/<id>` can show it stage by stage. */
import { defineStage } from '../../engine/index.ts';
import { attemptToShow } from '../model/attempt.ts';
import type { Attempt } from '../model/attempt.ts';
import type { BodyFrame } from '../model/body.ts';
import type { ProxyFrame } from '../model/frame.ts';
import { modelOf } from '../model/request.ts';
import { pathOf } from '../model/target.ts';
import type { Services } from '../services.ts';

/** A failure may contain a provider's own message, which may contain keys. */
function withoutKeys(
  attempts: readonly Attempt[],
  body: BodyFrame | undefined,
  services: Services,
): readonly Attempt[] {
  if (attempts.every(({ failure, message }) => (failure ?? message) === undefined)) return attempts;
  const cleaned = (text: string | undefined) => text && services.withoutKeys(text, body);
  return attempts.map((attempt) => ({
    ...attempt,
    failure: cleaned(attempt.failure),
    message: cleaned(attempt.message),
  }));
}

/**
 * Acts only when a run has settled. The log lines about a request are made from its row and what is
 * recorded here.
 */
export const trace = defineStage<ProxyFrame, undefined, Services>({
  name: 'trace',
  build: (_config, services) => ({
    settled({ last, outcome, error, durationMs, spans }, ctx) {
      const { head, body } = last;
      const request = head?.request ?? last.request?.request;
      const shown = head === undefined ? attemptToShow(request?.route?.attempts) : undefined;
      // A fault of our own: its cause is only known here, and is never sent to a client.
      if (error?.kind === 'internal') {
        const { message, node, cause } = error;
        services.log.error(message, { requestId: ctx.run.id, node, cause });
      }
      services.traces.add({
        id: ctx.run.id,
        startedMs: ctx.run.startedWallMs,
        endpoint: body === undefined ? '' : pathOf(body.target),
        model: shown?.model ?? (request && modelOf(request)) ?? null,
        provider: shown?.provider ?? request?.route?.provider ?? null,
        status: head?.status ?? (error === undefined ? null : services.statusOf(error.kind)),
        outcome,
        error: error === undefined ? null : services.withoutKeys(error.message, body),
        durationMs,
        spans,
        attempts: withoutKeys(head?.attempts ?? request?.route?.attempts ?? [], body, services),
      });
    },
  }),
});
