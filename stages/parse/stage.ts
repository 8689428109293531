/**
 * Reads a body into a request: its dialect, and the few facts that the other stages need, including
 * whether they may rewrite it. An invalid body is refused here, before it costs anything; anything
 * that only the provider can judge is left to it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SvcError, defineStage, isSvcError } from '../../engine/index.ts';
import type { StageContext } from '../../engine/index.ts';
import { UNREAD_FACTS } from '../model/dialect.ts';
import type { Dialect, RequestFacts } from '../model/dialect.ts';
import { parseBody, wordOf } from '../dialect/json-kind.ts';
import { dialects } from '../dialect/registry.ts';
import { invalidJson } from '../model/errors.ts';
import { headerSwitch, headerValue } from '../model/headers.ts';
import type { Headers } from '../model/headers.ts';
import type { ProxyFrame, RequestFrame } from '../model/frame.ts';
import type { BlockHistory } from '../model/block-history.ts';
import type { BodyFrame } from '../model/body.ts';
import { verbatimIf, toRequest } from '../model/request.ts';
import type { RouteConfig } from '../providers/route-config.ts';
import { mayBeVerbatim, providerFor } from '../providers/named-provider.ts';
import type { Services } from '../services.ts';
import { measureJson } from '../wire/json-size.ts';
import { tooDeep } from '../wire/json-skip.ts';
import { outlineOf } from './outline.ts';
import { createRepeatedBodies } from './repeated-bodies.ts';
import type { RepeatedBodies } from './repeated-bodies.ts';

/** A body of this size takes milliseconds to parse. */
const LONG_BYTES = 1_000_000;

interface Reading {
  readonly body: BodyFrame;
  readonly json: unknown;
  readonly facts: RequestFacts;
  readonly history?: BlockHistory | undefined;
}

function read(
  body: BodyFrame,
  dialect: Dialect,
  bodies: RepeatedBodies,
): Reading | Promise<Reading> {
  if (!body.endpoint.rewritable) return { body, json: undefined, facts: UNREAD_FACTS };
  const { bytes } = body;
  const repeated = bodies.parse(bytes, dialect.name);
  if (repeated !== undefined)
    return { body, ...repeated, facts: factsOf(body, dialect, repeated.json) };
  const measure = measureJson(bytes);
  const { size } = measure;
  if (size === 'large') return readOutline(body, dialect);
  const parsed = (json: unknown): Reading => {
    const facts = factsOf(body, dialect, json);
    return { body, json, facts, history: bodies.add(bytes, dialect.name, json, measure) };
  };
  if (size === 'fine' && bytes.length > LONG_BYTES) return readInSteps(bytes, parsed);
  const json = parseBody(bytes.toString('utf8'));
  if (size === 'deep') throw tooDeep();
  return parsed(json);
}

function factsOf(body: BodyFrame, dialect: Dialect, json: unknown): RequestFacts {
  const fault = dialect.validate(json, body.target);
  if (fault !== undefined) throw fault;
  return dialect.facts(json, body.target);
}

/** Yields to other work between two steps whose time grows with the body. */
async function readInSteps(bytes: Buffer, parsed: (json: unknown) => Reading): Promise<Reading> {
  await nextTurn();
  const json = parseBody(bytes.toString('utf8'));
  await nextTurn();
  return parsed(json);
}

/** A body with too many values is sent unchanged. */
function readOutline(body: BodyFrame, dialect: Dialect): Reading {
  const facts = factsOf(body, dialect, outline(body.bytes));
  const untouchable = body.untouchable ?? 'size';
  return { body: Object.freeze({ ...body, untouchable }), json: undefined, facts };
}

function outline(bytes: Buffer): unknown {
  try {
    return outlineOf(bytes);
  } catch (thrown) {
    throw isSvcError(thrown) ? thrown : invalidJson(thrown);
  }
}

/** Headers by which a request turns something on or off for itself. */
const SWITCHES = ['x-svc-bypass', 'x-svc-cache', 'x-svc-capture'];

/** Refuses a mistyped switch, which would be believed to work. */
function checkSwitches(headers: Headers): void {
  for (const name of SWITCHES) {
    const value = headerValue(headers, name)?.trim() ?? '';
    if (value === '' || headerSwitch(headers, name) !== undefined) continue;
    throw new SvcError('bad_request', `${name}: '${wordOf(value)}' is neither on nor off`);
  }
}

/**
 * `body` → `request`. Throws VALIDATION_001, _002 and _003, and `bad_request` for an invalid
 * switch.
 */
export const parse = defineStage<ProxyFrame, RouteConfig, Services>({
  name: 'parse',
  build(config, { providers }) {
    const mayMatter = mayBeVerbatim(config, providers);
    const bodies = createRepeatedBodies();
    return {
      on: {
        body(frame, ctx): RequestFrame | Promise<RequestFrame> {
          checkSwitches(frame.headers);
          const dialect = dialects[frame.endpoint.dialect];
          const reading = read(frame, dialect, bodies);
          return reading instanceof Promise
            ? reading.then((each) => toFrame(each, dialect, ctx))
            : toFrame(reading, dialect, ctx);
        },
      },
    };

    function toFrame(
      { body, json, facts, history }: Reading,
      dialect: Dialect,
      ctx: StageContext,
    ): RequestFrame {
      const request = toRequest({ body, dialect, facts, json, history });
      if (body.untouchable === 'size') ctx.note('unread', 'it has too many values');
      // A request that will be sent unchanged need not be compressed or measured.
      const verbatim = mayMatter && providerFor(request, config, providers).verbatim;
      return Object.freeze({ kind: 'request', request: verbatimIf(verbatim, request) });
    }
  },
});
