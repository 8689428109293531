/** The call marks of a conversation that may be sent back to one provider. */
import type { ConversationMarks } from '../../dialect/call-marks.ts';
import { conversationId } from '../../model/conversation.ts';
import type { ProxyRequest } from '../../model/request.ts';
import type { Provider } from '../../providers/provider.ts';
import type { Services } from '../../services.ts';

/**
 * Signatures are bound to an account, and another provider of the same kind refuses them: each gets
 * only its own. Readable reasoning may go to any provider of its kind.
 */
export function callMarksOf(
  { callMarks }: Pick<Services, 'callMarks'>,
  request: ProxyRequest,
  { kind, name }: Pick<Provider, 'kind' | 'name'>,
): ConversationMarks {
  const conversation = conversationId(request);
  return callMarks.of(kind === 'generative' ? JSON.stringify([conversation, name]) : conversation);
}

/** For a provider that has refused the marks it was sent. */
export const NO_MARKS: ConversationMarks = Object.freeze({
  get: () => undefined,
  put: () => undefined,
});
