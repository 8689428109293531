/** A run through the plan, optionally with its request and response recorded and logged. */
import { run } from '../../engine/index.ts';
import type { Plan, RunInfo, Settlement, Sink } from '../../engine/index.ts';
import type { ProxyFrame } from '../../stages/model/frame.ts';
import type { BodyFrame } from '../../stages/model/body.ts';
import { recordingSink } from '../capture/recording-sink.ts';
import { MAX_BODY_BYTES } from '../log/log.ts';
import { credentialsOf } from '../log/credentials.ts';
import type { ServerServices } from '../services.ts';
import { createCopyingSink } from '../sink/copy.ts';

/**
 * Runs `received` through `plan` into `client`; records it and logs both bodies, if the user asked
 * for that. Never rejects.
 */
export function runAndReport(
  plan: Plan<ProxyFrame>,
  received: BodyFrame,
  info: RunInfo,
  client: Sink<ProxyFrame>,
  { log, captures, telemetry }: Pick<ServerServices, 'log' | 'captures' | 'telemetry'>,
): Promise<Settlement<ProxyFrame>> {
  const body = telemetry.begin(received, info.id);
  const recorder = captures.begin(body, info);
  const sink = recorder === undefined ? client : recordingSink(client, recorder);
  const secrets =
    log.wants('request') || log.wants('response') ? credentialsOf(body.headers, body.target) : [];
  log.body('request', info.id, body.bytes, undefined, secrets);
  if (!log.wants('response')) return run(plan, body, info, sink);
  const copying = createCopyingSink(sink, MAX_BODY_BYTES);
  return run(plan, body, info, copying.sink).then(async (settlement) => {
    const copy = await copying.copy();
    if (copy !== undefined) log.body('response', info.id, copy.bytes, copy.sizeBytes, secrets);
    return settlement;
  });
}
