/**
 * Makes the request smaller: mainly tool results, and long text pasted by the user. The compressed
 * form of a block depends only on what precedes it, so the provider's prompt cache keeps hitting.
 */
import { defineStage } from '../../engine/index.ts';
import type { StageContext } from '../../engine/index.ts';
import type { ProxyFrame, RequestFrame } from '../model/frame.ts';
import { withReport } from '../model/request.ts';
import type { ProxyRequest } from '../model/request.ts';
import type { Services } from '../services.ts';
import { withFetchTool } from './fetch/turns.ts';
import { isColdMoment } from './history/forget/at-cold-moment.ts';
import { withLongResults } from './history/long/decide.ts';
import { optionsOf, turnOff } from './pass/options.ts';
import { createPassJoiner } from './pass/parts.ts';
import type { JoinedPass } from './pass/parts.ts';
import { applyOutcomes, changedBlocks, createTroubleNotes, samplesOf } from './pass/report.ts';
import { noteSizes, noteTools, noteUnchanged } from './pass/report.ts';
import { asksModel, passedBecause, skippedBecause, unchangedBecause } from './pass/skip-reasons.ts';
import { unchangedTokens } from './pass/skip-reasons.ts';
import { compressStanding } from './pass/standing.ts';
import type { WithinLimit } from './pass/within-limit.ts';
import type { CompressConfig } from './settings.ts';
import { createToolTrimmer } from './tools/trim.ts';

/** Per-stage helpers besides the configuration: logging and the tool trimmer. */
interface Notes {
  readonly trouble: ReturnType<typeof createTroubleNotes>;
  readonly trimTools: ReturnType<typeof createToolTrimmer>;
  /** Logs once that running conversations are sent unchanged from now on. */
  readonly strict: (because: string) => void;
}

async function compressRequest(
  whole: ProxyRequest,
  joined: JoinedPass,
  services: Services,
  ctx: StageContext,
  notes: Notes,
): Promise<ProxyRequest> {
  const { config } = joined;
  const blocks = whole.original.blocks();
  const { memory, standing, options, tools, change } = optionsOf(whole, joined, services, ctx);
  const report = { mode: options.mode };
  if (change === 'strict') notes.strict('compression.mode is strict');
  if (options.mode === 'strict') {
    ctx.note('not_compressed_because', 'the mode is strict');
    noteUnchanged(ctx, unchangedTokens(whole));
    return withReport(whole, report);
  }
  const { request, changed } =
    tools === 'trim' ? notes.trimTools(whole) : { request: whole, changed: [] };
  const trimmed = changed.map(({ block }) => block);
  const ofTools = { ...report, ...noteTools(trimmed, ctx) };
  const { compressor, conversations, learned, originals } = services;
  const { maxTimeMs } = config;
  const limits: WithinLimit = { memory, compressor, options, maxTimeMs, signal: ctx.run.signal };
  const isCold =
    !standing.isBound && options.forgets !== true && isColdMoment(request, config, conversations);
  const { blocks: parted, remember } = withLongResults(request, limits);
  const taken = withFetchTool(parted, request, memory);
  const result = await compressStanding(taken, standing, limits, isCold);
  const { outcomes, failed, forgotten } = result;
  remember(outcomes);
  if (isCold) ctx.note('cold', true);
  if (forgotten > 0) ctx.note('results_forgotten', forgotten);
  notes.trouble(result, ctx);
  if (failed !== undefined && outcomes.every((outcome) => !outcome.changed)) {
    noteUnchanged(ctx, unchangedTokens(request));
    originals.keep(ctx.run.id, trimmed);
    return withReport(request, ofTools);
  }
  const smaller = applyOutcomes(request, blocks, outcomes);
  const sizes = noteSizes(result, ctx);
  if (failed === undefined && outcomes.every(({ text }) => text === undefined))
    ctx.note('not_compressed_because', unchangedBecause(outcomes, config));
  // A request that only counts tokens is reported with the turn that follows it.
  if (!asksModel(request)) return smaller;
  for (const { classification, tokensBefore, tokensAfter } of outcomes)
    originals.count(classification?.kind ?? 'unclassified', tokensBefore, tokensAfter);
  originals.keep(ctx.run.id, [...trimmed, ...changedBlocks(blocks, outcomes)]);
  learned.learnBlocks(samplesOf(blocks, outcomes, options.mode));
  return withReport(smaller, { ...ofTools, ...sizes });
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

/** Rewrites `request`. On any fault the request is sent unchanged. */
export const compress = defineStage<ProxyFrame, CompressConfig, Services>({
  name: 'compress',
  traceAs: 'compaction',
  build(config, services) {
    const notes = createNotes(services.log);
    const join = createPassJoiner(config);
    const handle = (frame: RequestFrame, ctx: StageContext): Promise<RequestFrame> | undefined => {
      const { request } = frame;
      const untouched = passedBecause(request);
      const joined = join(request.pass);
      const passed = untouched ?? skippedBecause(request, joined, services.conversations);
      if (passed !== undefined) {
        if (asksModel(request)) ctx.note('not_compressed_because', passed);
        noteUnchanged(ctx, unchangedTokens(request));
        if (untouched === undefined && !config.enabled && turnOff(request, services, ctx))
          notes.strict('compression.enabled is false');
        return undefined;
      }
      return compressRequest(request, joined, services, ctx, notes).then((smaller) =>
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
