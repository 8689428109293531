/**
 * Makes the request smaller: tool results above all, and long text that the user
 * pasted. What goes out for a block follows from what stands before it, so the
 * provider's prompt cache keeps hitting.
 */
import { defineStage, SvcError } from '../../engine/index.ts';
import type { StageContext } from '../../engine/index.ts';
import type { ChangedBlock } from '../lost/lost-blocks.ts';
import type { Block } from '../model/block.ts';
import type { ProxyFrame, RequestFrame } from '../model/frame.ts';
import { headerValue } from '../model/headers.ts';
import { replaceTexts, withReport } from '../model/request.ts';
import type { ProxyRequest } from '../model/request.ts';
import { cacheLifetimeMs } from '../prompt-cache/lifetime.ts';
import type { Services } from '../services.ts';
import { toConversationBlocks } from './pass/blocks.ts';
import type { ConversationBlock } from './pass/blocks.ts';
import type { JobOptions, JobOutcome } from './worker/job.ts';
import { rememberLong, withParts } from './history/long/decide.ts';
import { createTroubleNotes } from './pass/note-trouble.ts';
import { mayForget } from './history/may-forget.ts';
import { pinOptions, pinStrict } from './pass/pin.ts';
import type { PinOptions } from './pass/pin.ts';
import { samplesOf } from './pass/samples.ts';
import type { RecipeSet } from './recipe/recipe.ts';
import type { CompressConfig } from './settings.ts';
import { isMode } from './settings.ts';
import { leftForBlocks } from './pass/threshold.ts';
import { compressStanding } from './pass/standing.ts';
import { createToolTrimmer } from './tools/trim.ts';
import {
  asksModel,
  passedBecause,
  tooSmallBecause,
  unchangedBecause,
} from './pass/skip-reasons.ts';
import { unchangedTokens } from './pass/unchanged-size.ts';
import { COMPRESSION_VERSION } from './version.ts';
import type { WithinLimit } from './pass/within-limit.ts';

function askedMode(request: ProxyRequest): CompressConfig['mode'] | undefined {
  const asked = headerValue(request.original.body.headers, 'x-svc-mode')?.trim().toLowerCase();
  if (asked === undefined || isMode(asked)) return asked;
  throw new SvcError(
    'bad_request',
    `x-svc-mode: '${asked.slice(0, 40)}' is not a mode; send strict, hybrid or aggressive`,
  );
}

/** Set where nothing is compressed, or nothing in this request can be eligible: a token is never shorter than a byte. */
function offBecause(
  request: ProxyRequest,
  config: CompressConfig,
  services: Services,
): string | undefined {
  if (!config.enabled) return 'compression.enabled is false';
  const isSmall = request.original.body.bytes.length < config.thresholdTokens;
  const isPassed =
    isSmall && askedMode(request) === undefined && !mayTrimTools(request, config, services);
  return isPassed ? tooSmallBecause(config) : undefined;
}

/** Definitions of tools stand in front of every request of a conversation, however small the first ones are. */
function mayTrimTools(
  request: ProxyRequest,
  { tools }: CompressConfig,
  { conversations }: Services,
): boolean {
  if (!request.original.facts.hasTools) return false;
  if (tools === 'trim') return true;
  if (conversations.figures.conversations === 0) return false;
  return conversations.memoryOf(request).record.pin?.tools === 'trim';
}

function applied(
  request: ProxyRequest,
  blocks: readonly Block[],
  outcomes: readonly JobOutcome[],
): { request: ProxyRequest; changed: number } {
  const texts = new Map<Block, string>();
  for (const outcome of outcomes) {
    const block = blocks[outcome.index];
    if (outcome.text !== undefined && block !== undefined) texts.set(block, outcome.text);
  }
  return { request: replaceTexts(request, texts), changed: texts.size };
}

/** What a built stage has besides its configuration: what it logs, and what it remembers of tools. */
interface Notes {
  readonly trouble: ReturnType<typeof createTroubleNotes>;
  readonly trimTools: ReturnType<typeof createToolTrimmer>;
  /** Logs once that running conversations are sent unchanged from now on. */
  readonly strict: (because: string) => void;
}

async function compressRequest(
  whole: ProxyRequest,
  config: CompressConfig,
  services: Services,
  ctx: StageContext,
  notes: Notes,
): Promise<ProxyRequest> {
  const { original } = whole;
  const blocks = original.blocks();
  const asked = askedMode(whole);
  const memory = services.conversations.memoryOf(whole);
  // Looked at before this request leaves anything behind.
  const standing = services.conversations.standing(whole);
  const { recipes, ...settings } = config;
  const wanted = {
    ...settings,
    thresholdTokens: () => leftForBlocks(original.json, config.thresholdTokens),
    ...appliedId(services),
    ...(recipes !== undefined && { recipes: recipes.id }),
    forgets: mayForget(original.json),
    // Tools stand before every thought.
    ...(standing.isBound && { tools: 'off' as const }),
  };
  const { options: pinned, change } = pinOptions(memory, wanted, asked);
  const options = withRules(pinned, config, services);
  ctx.note('mode', options.mode);
  if (options.recipes !== undefined) ctx.note('recipes', options.recipes.id);
  if (options.applied !== undefined) ctx.note('applied', options.applied.id);
  ctx.note('version', COMPRESSION_VERSION);
  if (change !== undefined && !standing.isBound) ctx.note('prefix_changes_because_of', change);
  if (change === 'strict') notes.strict('compression.mode is strict');
  else if (change !== undefined && !standing.isBound) {
    services.log.warning('the compressed prefix of a conversation changes once', {
      because: change,
    });
  }
  const report = { mode: options.mode };
  if (options.mode === 'strict') {
    ctx.note('not_compressed_because', 'the mode is strict');
    noteTokens(ctx, unchangedTokens(whole));
    return withReport(whole, report);
  }
  const { request, changed: trimmed } =
    pinned.tools === 'trim' ? notes.trimTools(whole) : { request: whole, changed: [] };
  const tools = trimmed.map(({ block }) => block);
  const ofTools = { ...report, ...noteTools(tools, ctx) };
  const limits: WithinLimit = {
    memory,
    compressor: services.compressor,
    options,
    maxTimeMs: config.maxTimeMs,
    signal: ctx.run.signal,
  };
  const isCold =
    !standing.isBound && options.forgets !== true && isColdMoment(request, config, services);
  const { blocks: taken, remember } = withLongResults(request, limits);
  const result = await compressStanding(taken, standing, limits, isCold);
  remember(result.outcomes);
  if (isCold) ctx.note('cold', true);
  if (result.forgotten > 0) ctx.note('results_forgotten', result.forgotten);
  notes.trouble(result, ctx);
  if (result.outcomes.every((outcome) => !outcome.changed) && result.failed !== undefined) {
    noteTokens(ctx, unchangedTokens(request));
    services.lost.keep(ctx.run.id, tools);
    return withReport(request, ofTools);
  }
  const { request: smaller, changed } = applied(request, blocks, result.outcomes);
  const before = result.outcomes.reduce((sum, outcome) => sum + outcome.tokensBefore, 0);
  const after = result.outcomes.reduce((sum, outcome) => sum + outcome.tokensAfter, 0);
  const leftOut = result.outcomes.reduce((sum, { tokensLeftOut = 0 }) => sum + tokensLeftOut, 0);
  noteTokens(ctx, before, after);
  ctx.note('blocks_changed', changed);
  if (leftOut > 0) ctx.note('long_results_tokens_left_out', leftOut);
  if (changed === 0 && result.failed === undefined)
    ctx.note('not_compressed_because', unchangedBecause(result.outcomes, config));
  if (result.where !== undefined) ctx.note('where', result.where);
  // What is only counted is the next turn's, and shown with that.
  if (!asksModel(request)) return smaller;
  for (const { classification, tokensBefore, tokensAfter } of result.outcomes)
    services.lost.count(classification?.kind ?? 'unclassified', tokensBefore, tokensAfter);
  services.lost.keep(ctx.run.id, [...tools, ...toLost(blocks, result.outcomes)]);
  services.learned.learnBlocks(samplesOf(blocks, result.outcomes, options.mode));
  return withReport(smaller, {
    ...ofTools,
    estimatedBefore: before,
    estimatedAfter: after,
    ...(leftOut > 0 && { estimatedLeftOut: leftOut }),
    ...(result.forgotten > 0 && { estimatedForgotten: Math.max(result.tokensForgotten, 0) }),
  });
}

/** Estimated tokens of all blocks, as they came and as they go out. */
function noteTokens(ctx: StageContext, before: number, after = before): void {
  ctx.note('tokens_before', before);
  ctx.note('tokens_after', after);
}

/** What trimming the tools took away, for the trace and the report. */
function noteTools(
  tools: readonly ChangedBlock[],
  ctx: StageContext,
): { readonly estimatedTools?: number } {
  if (tools.length === 0) return {};
  const before = tools.reduce((sum, { tokensBefore }) => sum + tokensBefore, 0);
  const after = tools.reduce((sum, { tokensAfter }) => sum + tokensAfter, 0);
  ctx.note('tools_trimmed', tools.length);
  ctx.note('tools_tokens_before', before);
  ctx.note('tools_tokens_after', after);
  return { estimatedTools: Math.max(before - after, 0) };
}

/** The blocks, with what is decided about long results; `remember` keeps that for later turns. */
function withLongResults(
  request: ProxyRequest,
  { memory, options }: WithinLimit,
): {
  readonly blocks: readonly ConversationBlock[];
  readonly remember: (outcomes: readonly JobOutcome[]) => void;
} {
  const { blocks, allowed, heldBack } = withParts(toConversationBlocks(request), {
    longTokens: options.longResultsTokens ?? 0,
    body: request.original.json,
    decided: memory.record.parts,
    mayDecide: options.forgets !== true,
  });
  return {
    blocks,
    remember(outcomes) {
      const inParts = [...allowed].filter(([at]) => outcomes[at]?.tokensLeftOut !== undefined);
      rememberLong(memory, [
        ...heldBack.map((key) => [key, false] as const),
        ...inParts.map(([, key]) => [key, true] as const),
      ]);
    },
  };
}

/** True where the conversation paused for longer than the setting, and than any cache of it lives. */
function isColdMoment(
  request: ProxyRequest,
  { coldTrimMs }: CompressConfig,
  { conversations }: Services,
): boolean {
  const { dialect, endpoint, json } = request.original;
  if (coldTrimMs === null || endpoint.operation !== 'generate') return false;
  const { pauseMs } = conversations.turnOf(request);
  return pauseMs !== null && pauseMs > Math.max(coldTrimMs, cacheLifetimeMs(dialect.name, json));
}

/** The rules that a conversation is pinned to if it begins now. */
function appliedId({ learned }: Services): { applied?: string } {
  return learned.applied === undefined ? {} : { applied: learned.applied.id };
}

/** The pinned options with the rules behind their id. Rules that were forgotten hold no more. */
function withRules(pinned: PinOptions, config: CompressConfig, services: Services): JobOptions {
  const { applied: id, recipes: setId, tools: _, ...options } = pinned;
  const rules = id === undefined ? undefined : services.learned.rules(id);
  const recipes = setId === undefined ? undefined : recipesOf(setId, config, services);
  return {
    ...options,
    ...(rules !== undefined && { applied: rules }),
    ...(recipes !== undefined && { recipes }),
  };
}

/** The recipes that a conversation began with, though others may be configured by now. */
function recipesOf(
  id: string,
  { recipes: current }: CompressConfig,
  { conversations }: Services,
): RecipeSet | undefined {
  const kept = conversations.recipes(id);
  if (current?.id === id) {
    if (kept === undefined) conversations.setRecipes(id, JSON.stringify(current));
    return current;
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written above
  return kept === undefined ? undefined : (JSON.parse(kept) as RecipeSet);
}

/** What the changed blocks were and became, for `svc diff`. */
function toLost(blocks: readonly Block[], outcomes: readonly JobOutcome[]) {
  return outcomes.flatMap((outcome) => {
    const block = blocks[outcome.index];
    if (outcome.text === undefined || block === undefined) return [];
    return [
      {
        index: outcome.index,
        toolName: block.toolName ?? null,
        by: outcome.by,
        kind: outcome.classification?.kind ?? null,
        before: block.text,
        after: outcome.text,
        tokensBefore: outcome.tokensBefore,
        tokensAfter: outcome.tokensAfter,
      },
    ];
  });
}

/** Compression is off, also for a conversation that was rewritten while it was on. */
function leaveOff(
  request: ProxyRequest,
  { conversations }: Services,
  ctx: StageContext,
  notes: Notes,
): void {
  if (conversations.figures.conversations === 0) return;
  const { isBound } = conversations.standing(request);
  if (!pinStrict(conversations.memoryOf(request))) return;
  ctx.note('mode', 'strict');
  if (!isBound) ctx.note('prefix_changes_because_of', 'off');
  notes.strict('compression.enabled is false');
}

function createNotes(log: Services['log']): Notes {
  let isLogged = false;
  return {
    trouble: createTroubleNotes(log),
    trimTools: createToolTrimmer(),
    strict(because) {
      if (!isLogged)
        log.warning('running conversations are sent unchanged from now on', { because });
      isLogged = true;
    },
  };
}

/** Rewrites `request`. Whatever goes wrong in here, the request goes out as it was. */
export const compress = defineStage<ProxyFrame, CompressConfig, Services>({
  name: 'compress',
  traceAs: 'compaction',
  build(config, services) {
    const notes = createNotes(services.log);
    const handle = (frame: RequestFrame, ctx: StageContext): Promise<RequestFrame> | undefined => {
      const { request } = frame;
      const untouched = passedBecause(request);
      const passed = untouched ?? offBecause(request, config, services);
      if (passed !== undefined) {
        if (asksModel(request)) ctx.note('not_compressed_because', passed);
        noteTokens(ctx, unchangedTokens(request));
        if (untouched === undefined && !config.enabled) leaveOff(request, services, ctx, notes);
        return undefined;
      }
      return compressRequest(request, config, services, ctx, notes).then((smaller) =>
        Object.freeze({ kind: 'request' as const, request: smaller }),
      );
    };
    return {
      on: {
        request(frame, ctx): RequestFrame | undefined | Promise<RequestFrame | undefined> {
          const behind = services.conversations.ready(frame.request);
          return behind === undefined ? handle(frame, ctx) : behind.then(() => handle(frame, ctx));
        },
      },
    };
  },
});
