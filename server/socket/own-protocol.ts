/** The protocol on `/ws`: one request per frame, with its destination in `endpoint`. */
import { SESSION_FIELDS } from '../../stages/model/conversation.ts';
import { withoutHeaders } from '../../stages/model/headers.ts';
import type { Headers } from '../../stages/model/headers.ts';
import { queryOf } from '../gate/target.ts';
import { OWN_FORM, ownErrorText } from '../sink/own-form.ts';
import { readMessage } from './message.ts';
import type { SocketProtocol } from './protocol.ts';

export const OWN_PROTOCOL: SocketProtocol = {
  path: '/ws',
  firstMessageMs: 5000,
  headersOf: ownHeaders,
  read: (data, isBinary, headers) => ({ ...readMessage(data, isBinary, headers), form: OWN_FORM }),
  post(upgrade, { target, headers }) {
    const rawHeaders = [...upgrade.rawHeaders, ...headers];
    const opened = queryOf(upgrade.url ?? '').slice(1);
    const url = opened === '' ? target : `${target}${target.includes('?') ? '&' : '?'}${opened}`;
    return { ...upgrade, method: 'POST', url, rawHeaders };
  },
  close: () => undefined,
  errorText: ownErrorText,
};

/**
 * Returns the upgrade's headers that apply to a request: identity of the client and options for
 * svc, without the key that admitted it and without those about the socket.
 */
function ownHeaders(raw: Headers): string[] {
  return withoutHeaders(raw, (name) => {
    if (name.startsWith('x-svc-')) return name === 'x-svc-key';
    return !name.startsWith('anthropic-') && name !== 'user-agent' && !SESSION_FIELDS.has(name);
  });
}
