/** An upstream that plays back a recorded run: nothing leaves this machine. */
import { SvcError } from '../../engine/index.ts';
import { piecesOf } from '../../stages/captures/record.ts';
import type {
  CaptureRecord,
  CapturedAttempt,
  CapturedFailure,
  CapturedResponse,
} from '../../stages/captures/record.ts';
import { pathOf } from '../../stages/model/target.ts';
import { bodyOf } from '../../stages/providers/response-body.ts';
import type { Upstream, UpstreamResponse } from '../../stages/providers/upstream.ts';

export interface RecordedUpstream extends Upstream {
  /** From now on answers requests as in `record`; `leave` ends the run as its client did. */
  play(record: CaptureRecord, leave: () => void): void;
}

/** Creates the upstream, which has no responses before the first `play`. */
export function createRecordedUpstream(): RecordedUpstream {
  let remaining: CapturedAttempt[] = [];
  let endRun: () => void = () => undefined;
  return {
    play(record, leave) {
      remaining = attemptsOf(record);
      endRun = leave;
    },
    async send({ path }, call) {
      const attempt = pick(remaining, path, call?.provider);
      if (attempt === undefined)
        throw new SvcError('bad_gateway', `Nothing is recorded of ${call?.provider ?? path}`, {
          code: 'PROVIDER_003',
        });
      remaining = remaining.filter((one) => one !== attempt);
      if (attempt.response === null) throw toError(attempt.failure);
      return toResponse(attempt.response, endRun);
    },
    close: async () => undefined,
  };
}

/** A response from our own cache replaces the provider's. */
function attemptsOf({ attempts, answer, request, row }: CaptureRecord): CapturedAttempt[] {
  if (attempts.length > 0 || !row.cacheHit || answer.head === null) return [...attempts];
  const { status, headers, atMs } = answer.head;
  const { body, endMs } = answer;
  return [
    {
      attempt: 0,
      provider: row.provider ?? '',
      startedMs: 0,
      origin: '',
      path: request.target,
      method: request.method,
      headers: [],
      body: null,
      response: { status, headers, headMs: atMs, body, end: 'complete', endMs, failure: null },
      failure: null,
    },
  ];
}

/**
 * Picks the first exchange with the same provider and path, otherwise with the same path: any other
 * would have another dialect.
 */
function pick(
  remaining: readonly CapturedAttempt[],
  path: string,
  provider: string | undefined,
): CapturedAttempt | undefined {
  const wanted = kindOfPath(path);
  const fitting = remaining.filter((attempt) => kindOfPath(attempt.path) === wanted);
  return fitting.find((attempt) => attempt.provider === provider) ?? fitting[0];
}

/** Returns the kind of endpoint, regardless of a path prefix or a model in the path. */
function kindOfPath(path: string): string {
  const plain = pathOf(path).replace(/^.*?(?=\/v1)/, '');
  return plain.replace(/\/models\/[^/:]+(?=:)/, '/models/');
}

function toResponse(response: CapturedResponse, leave: () => void): UpstreamResponse {
  const { status, headers, end, failure } = response;
  const pieces = [...piecesOf(response.body)];
  const stream = new ReadableStream<Buffer>(
    {
      pull(controller) {
        const piece = pieces.shift();
        if (piece !== undefined) return controller.enqueue(piece);
        if (end === 'broken') throw toError(failure);
        if (end === 'cancelled') leave();
        return controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return { status, headers, body: bodyOf(stream) };
}

function toError(failure: CapturedFailure | null): SvcError {
  const message = failure?.message ?? 'The recorded answer broke off';
  const isTimeout = failure?.kind === 'gateway_timeout';
  const code = failure?.code ?? undefined;
  return new SvcError(isTimeout ? 'gateway_timeout' : 'bad_gateway', message, {
    ...(code !== undefined && { code }),
  });
}
