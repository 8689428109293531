/**
 * The form of responses on `/ws`: the provider's events, then the usage, then one end marker for
 * all dialects.
 */
import { SvcError } from '../../engine/index.ts';
import { isMessagesTerminator } from '../../stages/dialect/messages/event.ts';
import { totalInputTokens } from '../../stages/model/usage.ts';
import { errorBody } from '../http/error-response.ts';
import { failureOfStatus } from './failure.ts';
import type { Failure } from './failure.ts';
import type { SocketForm } from './ws.ts';

export function ownErrorText(error: SvcError, requestId: string): string {
  return errorBody(error, requestId).toString('utf8');
}

function failureTexts({ text, message }: Failure, requestId: string): readonly string[] {
  const ours =
    message === undefined ? [] : [ownErrorText(new SvcError('bad_gateway', message), requestId)];
  return text === undefined ? ours : [text, ...ours];
}

export const OWN_FORM: SocketForm = {
  // Our end marker comes after the usage, so the dialect's own is held back.
  isHeldBack: isMessagesTerminator,
  failureTexts,
  refusalTexts: ({ text, status, requestId }) =>
    failureTexts(failureOfStatus(text, status), requestId),
  documentText: (text) => text,
  endTexts(usage) {
    const end = JSON.stringify({ type: 'message_stop' });
    if (usage === undefined) return [end];
    const counts = { input_tokens: totalInputTokens(usage), output_tokens: usage.outputTokens };
    return [JSON.stringify({ type: 'stats', usage: counts }), end];
  },
  errorText: ownErrorText,
};
