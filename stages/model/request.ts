/**
 * A request and the edits made to it. The original bytes never change: stages
 * edit values, each edit gives a new frozen request, and `render` splices the
 * values into the original once, when it goes out. Without edits the bytes that
 * came in go out.
 */
import { SvcError } from '../../engine/index.ts';
import type { Dialect, RequestFacts } from './dialect.ts';
import { modelInPath, withModelInPath } from './target.ts';
import type { Endpoint } from './endpoint.ts';
import type { Attempt } from './attempt.ts';
import type { KeptAnswer } from './kept-answer.ts';
import type { Block, JsonPath, ProtectedReason } from './block.ts';
import type { BodyFrame } from './body.ts';
import { hashOfBeginning, hashOfConversation } from './conversation.ts';
import type { Turn } from './conversation.ts';
import { NO_PASS } from './pass.ts';
import type { Pass } from './pass.ts';
import { namedProject, projectInPrompt } from './project.ts';
import { protectedReasons } from './protect.ts';

/** One provider that may serve a request. */
export interface RouteTarget {
  readonly provider: string;
  /** The model to ask there; undefined for the one that the request names. */
  readonly model: string | undefined;
  /** Whose key goes out: the client's own, a configured one, or none. */
  readonly credential: 'client' | 'configured' | 'none';
  /** True if neither the path nor `routing.primary` means it or its server: fields with credentials are not for it. */
  readonly isElsewhere: boolean;
  /** False for a provider that is asked only because another one failed. */
  readonly isPrimary: boolean;
  /** True if it must be asked with the request as it came in. */
  readonly verbatim: boolean;
  /** Why this provider was chosen, for the trace. */
  readonly reason: string;
}

/** Where a request goes. */
export interface Route {
  /** The provider that serves it: the first target, and later the one that answered. */
  readonly provider: string;
  /** In the order in which they are tried; at least one. */
  readonly targets: readonly RouteTarget[];
  /** Every try at a provider; `forward` adds to it, so that a run that fails can show them too. */
  readonly attempts: Attempt[];
}

/** The values that stages set. Keys are paths into the body as JSON text. */
interface Edits {
  readonly texts: ReadonlyMap<number, string>;
  readonly params: ReadonlyMap<string, unknown>;
  readonly appended: ReadonlyMap<number, string>;
  readonly values: readonly NewValue[];
  /** Places that get a cache marker: objects, and strings that become a text block for it. */
  readonly markers: readonly JsonPath[];
  /** Another path and query than the client's; undefined keeps it. */
  readonly target: string | undefined;
}

/** A value anywhere in the body, written anew. */
export interface NewValue {
  readonly path: JsonPath;
  /** JSON text: what was read from the body keeps its numbers to the letter. */
  readonly json: string;
}

/** What stages measured while they edited, in tokens of the fixed estimator. */
export interface RequestReport {
  /** The compression mode in force. */
  readonly mode?: string;
  readonly estimatedBefore?: number;
  readonly estimatedAfter?: number;
  /** The part of what went that was left out at a cold moment. */
  readonly estimatedForgotten?: number;
  /** The part of what went that long results left out. */
  readonly estimatedLeftOut?: number;
  /** The part of what went that definitions of tools repeated. */
  readonly estimatedTools?: number;
  /** Ids of the vault blocks that were added, best first, and their size. */
  readonly injected?: readonly string[];
  readonly injectedTokens?: number;
  /** Cache markers that were set for a client that sets none. */
  readonly breakpoints?: number;
  /** What the request holds of its spending limits; ended once, by whoever knows the cost. Nano-dollars. */
  readonly spending?: {
    /** The limit that another target than the first would pass and may not; changes nothing. Absent where there is no other. */
    limitFor?(target: RouteTarget): SvcError | undefined;
    /** Asks to spend what another target than the first is estimated to cost; why not, where it may not. Absent where there is no other. */
    moveTo?(target: RouteTarget): SvcError | undefined;
    settle(costNanoUsd: number | null, tokens?: number, knownNanoUsd?: number): void;
    /** What was spent by it. */
    settleUnmeasured(): {
      readonly estimateNanoUsd: number | null;
      readonly estimateTokens?: number;
    };
    release(): void;
  };
  /** True if our own response cache answered. */
  readonly cacheHit?: boolean;
  /** Where the answer is to be kept; `land` hands it to those who wait for it, and must be called once. */
  readonly cache?: {
    readonly key: string;
    readonly land: (answer: KeptAnswer | undefined) => void;
  };
}

export interface ProxyRequest {
  readonly original: Original;
  readonly edits: Edits;
  readonly route: Route | undefined;
  readonly report: RequestReport;
  /** What stages have added to the pass that `compress` makes. */
  readonly pass: Pass;
  /** True if it goes to a provider that takes no rewriting: then every edit leaves it as it is. */
  readonly isVerbatim: boolean;
}

const NO_EDITS: Edits = Object.freeze({
  texts: new Map<number, string>(),
  params: new Map<string, unknown>(),
  appended: new Map<number, string>(),
  values: [],
  markers: [],
  target: undefined,
});

const NO_REPORT: RequestReport = Object.freeze({});

export interface OriginalParts {
  readonly body: BodyFrame;
  readonly dialect: Dialect;
  readonly facts: RequestFacts;
  readonly json: unknown;
}

/** What never changes in a request, however often it is edited. Blocks are read once, and only if somebody asks. */
export class Original {
  readonly body: BodyFrame;
  readonly endpoint: Endpoint;
  readonly dialect: Dialect;
  readonly facts: RequestFacts;
  /** The parsed body; undefined where nothing was parsed. */
  readonly json: unknown;
  #blocks: readonly Block[] | undefined;
  #beginning: string | undefined;
  #conversation: string | undefined;
  #turn: Turn | undefined;
  #project: string | null | undefined;
  #reasons: readonly (ProtectedReason | undefined)[] | undefined;

  constructor({ body, dialect, facts, json }: OriginalParts) {
    this.body = body;
    this.endpoint = body.endpoint;
    this.dialect = dialect;
    this.facts = facts;
    this.json = json;
  }

  /** Every block in reading order; read from the body at the first call. */
  blocks(): readonly Block[] {
    return (this.#blocks ??= this.json === undefined ? [] : this.dialect.blocks(this.json));
  }

  /** Names how the conversation begins, whoever sends it; read at the first call. */
  beginning(): string {
    return (this.#beginning ??= hashOfBeginning(this));
  }

  /** Names the conversation of this caller; read from its beginning at the first call. See `conversationId`. */
  conversation(): string {
    return (this.#conversation ??= hashOfConversation(this.body, this.beginning()));
  }

  /** What the request is to its conversation: what `read` gave at the first call. */
  turn(read: () => Turn): Turn {
    return (this.#turn ??= read());
  }

  /** Which project it is for, or null; read at the first call. */
  project(): string | null {
    if (this.#project !== undefined) return this.#project;
    const { body } = this;
    return (this.#project =
      namedProject(body) ?? (body.readsProject ? projectInPrompt(this.blocks()) : null));
  }

  /** Why the block at an index may not be rewritten; undefined for one that may. */
  protectedBy(index: number): ProtectedReason | undefined {
    this.#reasons ??= protectedReasons(this.blocks());
    return this.#reasons[index];
  }
}

/** A request as it came in, without edits and without a route. */
export function toRequest(parts: OriginalParts): ProxyRequest {
  return Object.freeze({
    original: new Original(parts),
    edits: NO_EDITS,
    route: undefined,
    report: NO_REPORT,
    pass: NO_PASS,
    isVerbatim: false,
  });
}

/** The text of a block as it would go out now. */
export function textOf(request: ProxyRequest, block: Block): string {
  return request.edits.texts.get(block.index) ?? block.text;
}

/** The request with another text in `block`; throws as `replaceTexts` does. */
export function replaceText(request: ProxyRequest, block: Block, text: string): ProxyRequest {
  return replaceTexts(request, new Map([[block, text]]));
}

/**
 * The request with other texts in many blocks. Throws `internal` for a protected block and for
 * one that has no text: protection holds here, whatever the order of the graph.
 */
export function replaceTexts(
  request: ProxyRequest,
  replacements: ReadonlyMap<Block, string>,
): ProxyRequest {
  if (replacements.size === 0) return request;
  const texts = new Map(request.edits.texts);
  for (const [block, text] of replacements) {
    const reason = request.original.protectedBy(block.index);
    if (reason !== undefined || block.path === undefined) {
      const why = reason ?? 'it has no text';
      throw new SvcError('internal', `Block ${block.index} may not be rewritten: ${why}`);
    }
    texts.set(block.index, text);
  }
  return edited(request, { ...request.edits, texts });
}

/** The request with `text` at the tail of message number `message`, behind everything that it holds. */
export function appendText(request: ProxyRequest, message: number, text: string): ProxyRequest {
  const before = request.edits.appended.get(message) ?? '';
  const appended = new Map(request.edits.appended).set(message, before + text);
  return edited(request, { ...request.edits, appended });
}

/** The request with a top-level member set, in place of the one there or as a new one; undefined takes it out. */
export function setParam(request: ProxyRequest, name: string, value: unknown): ProxyRequest {
  const params = new Map(request.edits.params).set(name, value);
  const values = request.edits.values.filter(({ path }) => path[0] !== name);
  return edited(request, { ...request.edits, params, values });
}

/** The request with `values` in place of those at their paths, none of which lies in another or in a block. */
export function setValues(request: ProxyRequest, values: readonly NewValue[]): ProxyRequest {
  if (values.length === 0) return request;
  return edited(request, { ...request.edits, values: [...request.edits.values, ...values] });
}

/** The request with a cache marker at each of `places`, which are paths into the body. */
export function setMarkers(request: ProxyRequest, paths: readonly JsonPath[]): ProxyRequest {
  return edited(request, { ...request.edits, markers: paths });
}

/** The request for another model, wherever its dialect names the model: in the body or in the path. */
export function setModel(request: ProxyRequest, model: string): ProxyRequest {
  const target = withModelInPath(targetOf(request), model);
  if (target === undefined) return setParam(request, 'model', model);
  return edited(request, { ...request.edits, target });
}

/** The path and query that would go out now, before the provider's own prefix. */
export function targetOf(request: ProxyRequest): string {
  return request.edits.target ?? request.original.body.target;
}

/**
 * The request with what went out for its blocks before, also where it must not be edited: not to change what a
 * thought is signed over is no edit. `texts` are all that go out otherwise than they came.
 */
export function asSentBefore(
  request: ProxyRequest,
  edits: Pick<Edits, 'texts' | 'appended' | 'values'>,
): ProxyRequest {
  const { original, route, report, pass, isVerbatim } = request;
  const all = { ...request.edits, ...edits };
  return Object.freeze({ original, edits: all, route, report, pass, isVerbatim });
}

/** The request with a top-level member set, also where it must not be edited: without it the provider refuses all of it. */
export function withParamAnyway(request: ProxyRequest, name: string, value: unknown): ProxyRequest {
  const { original, edits, route, report, pass, isVerbatim } = request;
  const params = new Map(edits.params).set(name, value);
  return Object.freeze({ original, edits: { ...edits, params }, route, report, pass, isVerbatim });
}

/** The request with a route. */
export function withRoute(request: ProxyRequest, route: Route): ProxyRequest {
  const { original, edits, report, pass, isVerbatim } = request;
  return Object.freeze({ original, edits, route, report, pass, isVerbatim });
}

/** The request with more in its report. */
export function withReport(request: ProxyRequest, more: RequestReport): ProxyRequest {
  const { original, edits, route, report, pass, isVerbatim } = request;
  const full = Object.freeze({ ...report, ...more });
  return Object.freeze({ original, edits, route, report: full, pass, isVerbatim });
}

/** The request with another pass that `compress` is to make. */
export function withPass(request: ProxyRequest, pass: Pass): ProxyRequest {
  const { original, edits, route, report, isVerbatim } = request;
  return Object.freeze({ original, edits, route, report, pass, isVerbatim });
}

/** True if stages may edit this request. Where they may not, every edit leaves it as it is. */
export function isRewritable(request: ProxyRequest): boolean {
  const { body, endpoint } = request.original;
  return endpoint.rewritable && body.untouchable === undefined && !request.isVerbatim;
}

function edited(request: ProxyRequest, edits: Edits): ProxyRequest {
  if (!isRewritable(request)) return request;
  const { original, route, report, pass } = request;
  return Object.freeze({ original, edits, route, report, pass, isVerbatim: false });
}

/**
 * The request for a provider that takes it as it came in, or for one that does not mind. What
 * stages had changed for the latter is given up for the former, and nobody claims it any more.
 */
export function verbatimIf(isVerbatim: boolean, request: ProxyRequest): ProxyRequest {
  if (request.isVerbatim === isVerbatim) return request;
  const { original, edits, route, report, pass } = request;
  if (!isVerbatim) return Object.freeze({ original, edits, route, report, pass, isVerbatim });
  const { spending, cacheHit, cache } = report;
  const kept = Object.freeze({
    ...(spending && { spending }),
    ...(cacheHit !== undefined && { cacheHit }),
    ...(cache && { cache }),
  });
  return Object.freeze({ original, edits: NO_EDITS, route, report: kept, pass, isVerbatim });
}

/** The same request for a provider to which the reason does not apply why it may not be edited. */
export function released(request: ProxyRequest): ProxyRequest {
  const { edits, route, report, pass, isVerbatim } = request;
  const { body, dialect, facts, json } = request.original;
  const { untouchable: _, ...free } = body;
  const original = new Original({ body: Object.freeze(free), dialect, facts, json });
  return Object.freeze({ original, edits, route, report, pass, isVerbatim });
}

/** Why a request goes to some providers as large as it came, in words for its trace. */
export const VERBATIM_BECAUSE =
  'its provider is of kind passthrough, whose requests are never rewritten';

/** True if `request` was made smaller for nothing: `isVerbatim` says that it goes out as it came in. */
export function losesSaving(isVerbatim: boolean, { edits }: ProxyRequest): boolean {
  return isVerbatim && edits.texts.size + edits.values.length > 0;
}

/** True if rendering would change the bytes. */
export function isEdited(request: ProxyRequest): boolean {
  const { texts, params, appended, values, markers } = request.edits;
  const sizes = [texts.size, params.size, appended.size, values.length, markers.length];
  return sizes.some((size) => size > 0);
}

/** The model that would go out now. */
export function modelOf(request: ProxyRequest): string | undefined {
  if (request.edits.target !== undefined) return modelInPath(request.edits.target);
  const set = request.edits.params.get('model');
  return typeof set === 'string' ? set : request.original.facts.model;
}
