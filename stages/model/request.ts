/**
 * A request and the edits made to it. The original bytes never change: stages edit values, each
 * edit gives a new frozen request, and `render` splices the values into the original once, when it
 * is sent. Without edits the original bytes are sent.
 */
import { SvcError } from '../../engine/index.ts';
import type { Dialect, RequestFacts } from './dialect.ts';
import { modelInPath, withModelInPath } from './target.ts';
import type { Endpoint } from './endpoint.ts';
import type { Attempt } from './attempt.ts';
import type { KeptAnswer } from './kept-answer.ts';
import type { Block, JsonPath, ProtectedReason } from './block.ts';
import type { BlockHistory } from './block-history.ts';
import type { BodyFrame } from './body.ts';
import { callerOf, hashOfBeginning, hashOfConversation } from './conversation.ts';
import type { Turn } from './conversation.ts';
import { NO_PASS } from './pass.ts';
import type { Pass } from './pass.ts';
import { namedProject, projectInPrompt } from './project.ts';
import { protectedReasons } from './protect.ts';

/** One provider that may serve a request. */
export interface RouteTarget {
  readonly provider: string;
  /** The model to request there; undefined for the one that the request names. */
  readonly model: string | undefined;
  /** Which key is sent: the client's own, a configured one, or none. */
  readonly credential: 'client' | 'configured' | 'none';
  /**
   * True if neither the path nor `routing.primary` refers to it or its server: headers with
   * credentials are not for it.
   */
  readonly isElsewhere: boolean;
  /** False for a fallback provider. */
  readonly isPrimary: boolean;
  /** True if it must receive the request as it arrived. */
  readonly verbatim: boolean;
  /** Why this provider was chosen, for the trace. */
  readonly reason: string;
}

/** Where a request goes. */
export interface Route {
  /** The serving provider: the first target, and later the one that answered. */
  readonly provider: string;
  /** In the order in which they are tried; at least one. */
  readonly targets: readonly RouteTarget[];
  /** Every attempt at a provider; `forward` adds to it, so that a failed run can show them too. */
  readonly attempts: Attempt[];
}

/** The values that stages set. Keys are paths into the body as JSON text. */
interface Edits {
  readonly texts: ReadonlyMap<number, string>;
  readonly params: ReadonlyMap<string, unknown>;
  readonly appended: ReadonlyMap<number, string>;
  readonly values: readonly NewValue[];
  /** Places for cache markers: objects, and strings that become a text block for the marker. */
  readonly markers: readonly JsonPath[];
  /** A different path and query from the client's; undefined keeps it. */
  readonly target: string | undefined;
}

/** A new value anywhere in the body. */
export interface NewValue {
  readonly path: JsonPath;
  /** JSON text: values copied from the body keep their numbers exactly. */
  readonly json: string;
}

/** What stages measured while editing, in tokens of the fixed estimator. */
export interface RequestReport {
  /** The compression mode in force. */
  readonly mode?: string;
  readonly estimatedBefore?: number;
  readonly estimatedAfter?: number;
  /** The part of the removed tokens that was left out at a cold moment. */
  readonly estimatedForgotten?: number;
  /** The part of the removed tokens that long results left out. */
  readonly estimatedLeftOut?: number;
  /** The part of the removed tokens that tool definitions repeated. */
  readonly estimatedTools?: number;
  /** Ids of the added vault blocks, best first, and their size. */
  readonly injected?: readonly string[];
  readonly injectedTokens?: number;
  /** Cache markers that were set for a client that sets none. */
  readonly breakpoints?: number;
  /**
   * The request's reservations on its spending limits; ended once, where the cost is known.
   * Nano-dollars.
   */
  readonly spending?: {
    /**
     * Returns the limit that would block a target other than the first; changes nothing. Absent if
     * there is no other.
     */
    limitFor?(target: RouteTarget): SvcError | undefined;
    /**
     * Reserves the estimated cost of a target other than the first; returns the blocking limit if
     * there is one. Absent if there is no other.
     */
    moveTo?(target: RouteTarget): SvcError | undefined;
    settle(costNanoUsd: number | null, tokens?: number, knownNanoUsd?: number): void;
    /** Settles with an estimate, when the cost could not be measured. */
    settleUnmeasured(): {
      readonly estimateNanoUsd: number | null;
      readonly estimateTokens?: number;
    };
    release(): void;
  };
  /** True if our own response cache answered. */
  readonly cacheHit?: boolean;
  /**
   * Where the answer is to be kept; `land` passes it to waiting requests, and must be called once.
   */
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
  /** What stages have added to the pass of `compress`. */
  readonly pass: Pass;
  /** True if it goes to a provider that takes no rewriting: every edit then has no effect. */
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
  readonly history?: BlockHistory | undefined;
}

/**
 * The immutable part of a request, however often it is edited. Blocks are read once, on first use.
 */
export class Original {
  readonly body: BodyFrame;
  readonly endpoint: Endpoint;
  readonly dialect: Dialect;
  readonly facts: RequestFacts;
  /** The parsed body; undefined if nothing was parsed. */
  readonly json: unknown;
  /** What earlier requests of the conversation have read and written; only for a long one. */
  readonly history: BlockHistory | undefined;
  #blocks: readonly Block[] | undefined;
  #caller: string | undefined;
  #beginning: string | undefined;
  #conversation: string | undefined;
  #turn: Turn | undefined;
  #project: string | null | undefined;
  #reasons: readonly (ProtectedReason | undefined)[] | undefined;
  #made: Map<(original: Original) => unknown, unknown> | undefined;

  constructor({ body, dialect, facts, json, history }: OriginalParts) {
    this.body = body;
    this.endpoint = body.endpoint;
    this.dialect = dialect;
    this.facts = facts;
    this.json = json;
    this.history = history;
  }

  /** Every block in reading order; read from the body at the first call. */
  blocks(): readonly Block[] {
    return (this.#blocks ??=
      this.json === undefined ? [] : this.dialect.blocks(this.json, this.history));
  }

  /** Returns the id of the sender; see `callerOf`. */
  caller(): string {
    return (this.#caller ??= callerOf(this.body));
  }

  /**
   * Returns an id of the conversation's beginning, independent of the sender; read at the first
   * call.
   */
  beginning(): string {
    return (this.#beginning ??= hashOfBeginning(this));
  }

  /**
   * Returns an id of this caller's conversation; read from its beginning at the first call. See
   * `conversationId`.
   */
  conversation(): string {
    return (this.#conversation ??= hashOfConversation(this.caller(), this.beginning()));
  }

  /**
   * Takes over the ids of an earlier request with the same sender, session and blocks before the
   * first answer.
   */
  continues(beginning: string, conversation: string): void {
    this.#beginning = beginning;
    this.#conversation = conversation;
  }

  /** Returns the request's position in its conversation: the result of `read` at the first call. */
  turn(read: () => Turn): Turn {
    return (this.#turn ??= read());
  }

  /**
   * Returns what `make` returned at its first call for this request. Kept here, and not by its
   * owner: the values of a WeakMap that refer to their keys outlive every collection of the young
   * generation, and the whole request with them.
   */
  once<T>(make: (original: Original) => T): T {
    this.#made ??= new Map();
    if (!this.#made.has(make)) this.#made.set(make, make(this));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is what `make` returned
    return this.#made.get(make) as T;
  }

  /** Returns the project, or null; read at the first call. */
  project(): string | null {
    if (this.#project !== undefined) return this.#project;
    const { body } = this;
    return (this.#project =
      namedProject(body) ?? (body.readsProject ? projectInPrompt(this.blocks()) : null));
  }

  /** Returns why the block at an index may not be rewritten; undefined for one that may. */
  protectedBy(index: number): ProtectedReason | undefined {
    this.#reasons ??= protectedReasons(this.blocks());
    return this.#reasons[index];
  }
}

/** Makes a request as it arrived, without edits and without a route. */
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

/** Returns the text of a block as it would be sent now. */
export function textOf(request: ProxyRequest, block: Block): string {
  return request.edits.texts.get(block.index) ?? block.text;
}

/** Returns the request with another text in `block`; throws as `replaceTexts` does. */
export function replaceText(request: ProxyRequest, block: Block, text: string): ProxyRequest {
  return replaceTexts(request, new Map([[block, text]]));
}

/**
 * Returns the request with other texts in many blocks. Throws `internal` for a protected block and
 * for one without text: protection is enforced here, whatever the order of the graph.
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

/** Returns the request with `text` appended to message number `message`, after all its content. */
export function appendText(request: ProxyRequest, message: number, text: string): ProxyRequest {
  const before = request.edits.appended.get(message) ?? '';
  const appended = new Map(request.edits.appended).set(message, before + text);
  return edited(request, { ...request.edits, appended });
}

/** Returns the request with a top-level member set, replaced or added; undefined removes it. */
export function setParam(request: ProxyRequest, name: string, value: unknown): ProxyRequest {
  const params = new Map(request.edits.params).set(name, value);
  const values = request.edits.values.filter(({ path }) => path[0] !== name);
  return edited(request, { ...request.edits, params, values });
}

/**
 * Returns the request with `values` in place of those at their paths, none of which is inside
 * another or inside a block.
 */
export function setValues(request: ProxyRequest, values: readonly NewValue[]): ProxyRequest {
  if (values.length === 0) return request;
  return edited(request, { ...request.edits, values: [...request.edits.values, ...values] });
}

/** Returns the request with a cache marker at each of `places`, which are paths into the body. */
export function setMarkers(request: ProxyRequest, paths: readonly JsonPath[]): ProxyRequest {
  return edited(request, { ...request.edits, markers: paths });
}

/**
 * Returns the request for another model, in the body or in the path, wherever its dialect names the
 * model.
 */
export function setModel(request: ProxyRequest, model: string): ProxyRequest {
  const target = withModelInPath(targetOf(request), model);
  if (target === undefined) return setParam(request, 'model', model);
  return edited(request, { ...request.edits, target });
}

/** Returns the path and query that would be sent now, before the provider's own prefix. */
export function targetOf(request: ProxyRequest): string {
  return request.edits.target ?? request.original.body.target;
}

/**
 * Returns the request with what was sent for its blocks before, even if it must not be edited:
 * keeping what a thinking block's signature covers is not an edit. `texts` are all texts that are
 * sent changed.
 */
export function asSentBefore(
  request: ProxyRequest,
  edits: Pick<Edits, 'texts' | 'appended' | 'values'>,
): ProxyRequest {
  const { original, route, report, pass, isVerbatim } = request;
  const all = { ...request.edits, ...edits };
  return Object.freeze({ original, edits: all, route, report, pass, isVerbatim });
}

/**
 * Returns the request with a top-level member set, even if it must not be edited: without it the
 * provider refuses the whole request.
 */
export function withParamAnyway(request: ProxyRequest, name: string, value: unknown): ProxyRequest {
  const { original, edits, route, report, pass, isVerbatim } = request;
  const params = new Map(edits.params).set(name, value);
  return Object.freeze({ original, edits: { ...edits, params }, route, report, pass, isVerbatim });
}

/** Returns the request with a route. */
export function withRoute(request: ProxyRequest, route: Route): ProxyRequest {
  const { original, edits, report, pass, isVerbatim } = request;
  return Object.freeze({ original, edits, route, report, pass, isVerbatim });
}

/** Returns the request with more in its report. */
export function withReport(request: ProxyRequest, more: RequestReport): ProxyRequest {
  const { original, edits, route, report, pass, isVerbatim } = request;
  const full = Object.freeze({ ...report, ...more });
  return Object.freeze({ original, edits, route, report: full, pass, isVerbatim });
}

/** Returns the request with another pass for `compress`. */
export function withPass(request: ProxyRequest, pass: Pass): ProxyRequest {
  const { original, edits, route, report, isVerbatim } = request;
  return Object.freeze({ original, edits, route, report, pass, isVerbatim });
}

/** Returns true if stages may edit this request. If not, every edit has no effect. */
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
 * Returns the request for a provider that takes it as it arrived, or for one that accepts edits.
 * The former drops the edits of stages, and the report no longer claims them.
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

/** Returns the same request for a provider to which the reason against editing does not apply. */
export function released(request: ProxyRequest): ProxyRequest {
  const { edits, route, report, pass, isVerbatim } = request;
  const { body, dialect, facts, json } = request.original;
  const { untouchable: _, ...free } = body;
  const original = new Original({ body: Object.freeze(free), dialect, facts, json });
  return Object.freeze({ original, edits, route, report, pass, isVerbatim });
}

/** Why a request goes to some providers uncompressed, in words for its trace. */
export const VERBATIM_BECAUSE =
  'its provider is of kind passthrough, whose requests are never rewritten';

/**
 * Returns true if `request` was compressed for nothing: `isVerbatim` says that it is sent as it
 * arrived.
 */
export function losesSaving(isVerbatim: boolean, { edits }: ProxyRequest): boolean {
  return isVerbatim && edits.texts.size + edits.values.length > 0;
}

/** Returns true if rendering would change the bytes. */
export function isEdited(request: ProxyRequest): boolean {
  const { texts, params, appended, values, markers } = request.edits;
  const sizes = [texts.size, params.size, appended.size, values.length, markers.length];
  return sizes.some((size) => size > 0);
}

/** Returns the model that would be sent now. */
export function modelOf(request: ProxyRequest): string | undefined {
  if (request.edits.target !== undefined) return modelInPath(request.edits.target);
  const set = request.edits.params.get('model');
  return typeof set === 'string' ? set : request.original.facts.model;
}
