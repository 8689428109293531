/**
 * Reads a body into a request: which dialect it is, and the few facts that the other stages
 * decide by, whether they may rewrite it among them. A body that cannot be right is refused
 * here, before anybody pays for it; what only the provider can judge is left to it.
 */
import { defineStage } from '../../engine/index.ts';
import type { Dialect, RequestFacts } from '../dialect/dialect.ts';
import { dialects } from '../dialect/registry.ts';
import { invalidJson } from '../model/errors.ts';
import type { BodyFrame, ProxyFrame, RequestFrame } from '../model/frame.ts';
import { relayedIf, toRequest } from '../model/request.ts';
import type { RouteConfig } from '../providers/route-config.ts';
import { mayRelay, namedFor } from '../providers/relay.ts';
import type { Services } from '../services.ts';
import { sizeOfJson } from '../wire/json-size.ts';
import { tooDeep } from '../wire/json-skip.ts';

/** Facts of a request that nobody read. */
const UNREAD: RequestFacts = Object.freeze({
  model: undefined,
  stream: false,
  maxOutputTokens: undefined,
  usageWish: 'unsaid',
  hasTools: false,
  hasThinking: false,
});

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw invalidJson(cause);
  }
}

function read(body: BodyFrame, dialect: Dialect): { json: unknown; facts: RequestFacts } {
  if (!body.endpoint.rewritable) return { json: undefined, facts: UNREAD };
  const json = parseJson(body.bytes);
  if (sizeOfJson(body.bytes) === 'deep') throw tooDeep();
  const fault = dialect.validate(json, body.target);
  if (fault !== undefined) throw fault;
  return { json, facts: dialect.facts(json, body.target) };
}

/** `body` → `request`. Throws VALIDATION_001, _002 and _003. */
export const parse = defineStage<ProxyFrame, RouteConfig, Services>({
  name: 'parse',
  build(config, { providers }) {
    const isAsked = mayRelay(config, providers);
    return {
      on: {
        body(body): RequestFrame {
          const dialect = dialects[body.endpoint.dialect];
          const { json, facts } = read(body, dialect);
          const request = toRequest({ body, dialect, facts, json });
          // Nobody need make smaller, or measure, what will go out as it came in.
          const relays = isAsked && namedFor(request, config, providers).relays;
          return Object.freeze({ kind: 'request', request: relayedIf(relays, request) });
        },
      },
    };
  },
});
