/** Makes a request from a body that was never sent. */
import { SvcError } from '../../engine/index.ts';
import type { TranslatableDialect } from '../../stages/dialect/canonical.ts';
import { resolveEndpoint } from '../../stages/dialect/endpoints.ts';
import { dialects } from '../../stages/dialect/registry.ts';
import { UNREAD_FACTS } from '../../stages/model/dialect.ts';
import { toRequest } from '../../stages/model/request.ts';
import type { ProxyRequest } from '../../stages/model/request.ts';

const TARGETS: Readonly<Record<TranslatableDialect, string>> = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  generative: '/v1beta/models/any:generateContent',
};

/** Builds the request; `text` is the body as JSON, and may be omitted if its bytes are not read. */
export function asRequest(name: TranslatableDialect, json: unknown, text = ''): ProxyRequest {
  const target = TARGETS[name];
  const endpoint = resolveEndpoint('POST', target, []);
  if (endpoint === undefined || 'allow' in endpoint)
    throw new SvcError('internal', `Nothing serves ${target}`);
  const bytes = Buffer.from(text);
  return toRequest({
    body: {
      kind: 'body',
      method: 'POST',
      target,
      headers: [],
      wireBytes: bytes,
      bytes,
      endpoint,
    },
    dialect: dialects[name],
    // A body without fields that a provider requires can still be examined.
    facts: UNREAD_FACTS,
    json,
  });
}
