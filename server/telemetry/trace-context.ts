/** The `traceparent` header of W3C Trace Context, level 1. */
import { headerValue, withoutHeaders } from '../../stages/model/headers.ts';
import type { Headers } from '../../stages/model/headers.ts';

const NAME = 'traceparent';
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Position of a request in a distributed trace. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Id of the request's own span, 16 digits. */
  readonly spanId: string;
  /** Id of the client's span; undefined if the trace begins here. */
  readonly parentSpanId: string | undefined;
  /** Two digits, as the client sent them. */
  readonly flags: string;
}

/**
 * Continues the client's trace, or begins one; `randomHex` returns that many random bytes as
 * hexadecimal digits.
 */
export function traceContextOf(
  headers: Headers,
  randomHex: (bytes: number) => string,
): TraceContext {
  const [, version, traceId = '', parentSpanId = '', flags = '', more] =
    FORM.exec(headerValue(headers, NAME) ?? '') ?? [];
  const spanId = randomHex(8);
  const isValid =
    version !== undefined &&
    version !== 'ff' &&
    (version !== '00' || more === undefined) &&
    !/^0+$/.test(traceId) &&
    !/^0+$/.test(parentSpanId);
  if (!isValid) return { traceId: randomHex(16), spanId, parentSpanId: undefined, flags: '01' };
  return { traceId, spanId, parentSpanId, flags };
}

/** Returns the headers with our span as the parent. `tracestate` is kept unchanged. */
export function withTraceContext(headers: Headers, context: TraceContext): Headers {
  const { traceId, spanId, flags } = context;
  const kept = withoutHeaders(headers, (name) => name === NAME);
  return [...kept, NAME, `00-${traceId}-${spanId}-${flags}`];
}
