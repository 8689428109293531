/**
 * Converts a provider's report of a failure, in whatever form, to the object with `error.message`
 * that ends a response over WebSocket.
 */
import { isObject, parseJson, stringOf } from '../../stages/dialect/json-kind.ts';

/** What is sent: the provider's own object, ours with `message`, or both in this order. */
export interface Failure {
  readonly text?: string;
  readonly message?: string;
}

const FAILED = new Set(['error', 'response.failed']);
const UNNAMED = 'The provider sent an error inside its stream';

/**
 * Returns the failure that a stream event reports, `payload` being its data if that is JSON;
 * undefined for any other event.
 */
export function failureIn(
  event: string | undefined,
  data: string,
  payload: unknown,
): Failure | undefined {
  const isNamed = event !== undefined && FAILED.has(event);
  if (!isObject(payload)) return isNamed ? { message: data.slice(0, 1000) } : undefined;
  const { type, error, message, response } = payload;
  const isTyped = typeof type === 'string' && FAILED.has(type);
  if (!isNamed && !isTyped && !isObject(error) && typeof error !== 'string') return undefined;
  if (isObject(error) && typeof error['message'] === 'string') return { text: data };
  const inner = isObject(response) && isObject(response['error']) ? response['error'] : {};
  const wording = stringOf(error) ?? stringOf(inner['message']) ?? stringOf(message) ?? UNNAMED;
  return { text: data, message: wording };
}

/** Returns the failure that an error response reports. An HTML page would be of no use. */
export function failureOfStatus(text: string, status: number): Failure {
  const payload = parseJson(text);
  const error = isObject(payload) ? payload['error'] : undefined;
  if (isObject(error) && typeof error['message'] === 'string') return { text };
  const detail = stringOf(error) ?? (isObject(payload) ? stringOf(payload['message']) : undefined);
  return { message: detail ?? `The provider answered with status ${status}` };
}
