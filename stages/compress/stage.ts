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
import { isColdMoment } from './history/forget/compress-forgetting.ts';
import { withLongResults } from './history/long/plan-excerpts.ts';
import { optionsOf, turnOff } from './pass/options.ts';
import { createPassJoiner } from './pass/joined-pass.ts';
import type { JoinedPass } from './pass/joined-pass.ts';
import { applyOutcomes, changedBlocks, createProblemNotes, samplesOf } from './pass/report.ts';
import { noteSavings, noteToolSavings, noteUnchanged } from './pass/report.ts';
import {
  runsModel,
  reasonForVerbatim,
  reasonForSkipping,
  reasonForNoChange,
} from './pass/skip-reasons.ts';
import { unchangedTokens } from './pass/skip-reasons.ts';
import { compressWithFixedBlocks } from './pass/fixed-blocks.ts';
import type { WithinLimit } from './pass/within-limit.ts';
import type { CompressConfig } from './settings.ts';
import { createToolTrimmer } from './tools/trim.ts';

/** Per-stage helpers besides the configuration: logging and the tool trimmer. */
interface Notes {
  readonly noteProblem: ReturnType<typeof createProblemNotes>;
  readonly trimTools: ReturnType<typeof createToolTrimmer>;
  /** Logs once that running conversations are sent unchanged from now on. */
  readonly logStrict: (because: string) => void;
}

async function compressRequest(
  incoming: ProxyRequest,
  joined: JoinedPass,
  services: Services,
  ctx: StageContext,
  notes: Notes,
): Promise<ProxyRequest> {
  const { config } = joined;
  const blocks = incoming.original.blocks();
  const { memory, sendingRules, options, tools, change } = optionsOf(
    incoming,
    joined,
    services,
    ctx,
  );
  const report = { mode: options.mode };
  if (change === 'strict') notes.logStrict('compression.mode is strict');
  if (options.mode === 'strict') {
    ctx.note('not_compressed_because', 'the mode is strict');
    noteUnchanged(ctx, unchangedTokens(incoming));
    return withReport(incoming, report);
  }
  const { request, changed } =
    tools === 'trim' ? notes.trimTools(incoming) : { request: incoming, changed: [] };
  const trimmed = changed.map(({ block }) => block);
  const toolReport = { ...report, ...noteToolSavings(trimmed, ctx) };
  const { compressor, conversations, learned, originals } = services;
  const { maxTimeMs } = config;
  const limits: WithinLimit = { memory, compressor, options, maxTimeMs, signal: ctx.run.signal };
  const isCold =
    !sendingRules.isBound &&
    options.forgets !== true &&
    isColdMoment(request, config, conversations);
  const { blocks: parted, remember } = withLongResults(request, limits);
  const prepared = withFetchTool(parted, request, memory);
  const result = await compressWithFixedBlocks(prepared, sendingRules, limits, isCold);
  const { outcomes, failed, forgotten } = result;
  remember(outcomes);
  if (isCold) ctx.note('cold', true);
  if (forgotten > 0) ctx.note('results_forgotten', forgotten);
  notes.noteProblem(result, ctx);
  if (failed !== undefined && outcomes.every((outcome) => !outcome.changed)) {
    noteUnchanged(ctx, unchangedTokens(request));
    originals.keep(ctx.run.id, memory.id, trimmed);
    return withReport(request, toolReport);
  }
  const smaller = applyOutcomes(request, blocks, outcomes);
  const sizes = noteSavings(result, ctx);
  if (failed === undefined && outcomes.every(({ text }) => text === undefined))
    ctx.note('not_compressed_because', reasonForNoChange(outcomes, config));
  // A request that only counts tokens is reported with the turn that follows it.
  if (!runsModel(request)) return smaller;
  services.deferredWork.later(() => {
    for (const { classification, tokensBefore, tokensAfter } of outcomes)
      originals.count(classification?.kind ?? 'unclassified', tokensBefore, tokensAfter);
    originals.keep(ctx.run.id, memory.id, [...trimmed, ...changedBlocks(blocks, outcomes)]);
    learned.learnBlocks(samplesOf(blocks, outcomes, options.mode));
  });
  return withReport(smaller, { ...toolReport, ...sizes });
}

function createNotes(log: Services['log']): Notes {
  let isLogged = false;
  return {
    noteProblem: createProblemNotes(log),
    trimTools: createToolTrimmer(),
    logStrict(because) {
      if (!isLogged)
        log.warning('running conversations are sent unchanged from now on', { because });
      isLogged = true;
    },
  };
}

/** Rewrites `request`. On any fault the request is sent unchanged. */
export const compress = defineStage<ProxyFrame, CompressConfig, Services>({
  name: 'compress',
  build(config, services) {
    const notes = createNotes(services.log);
    const join = createPassJoiner(config);
    const handle = (frame: RequestFrame, ctx: StageContext): Promise<RequestFrame> | undefined => {
      const { request } = frame;
      const untouched = reasonForVerbatim(request);
      const joined = join(request.pass);
      const passed = untouched ?? reasonForSkipping(request, joined, services.conversations);
      if (passed !== undefined) {
        if (runsModel(request)) ctx.note('not_compressed_because', passed);
        noteUnchanged(ctx, unchangedTokens(request));
        if (untouched === undefined && !config.enabled && turnOff(request, services, ctx))
          notes.logStrict('compression.enabled is false');
        return undefined;
      }
      return compressRequest(request, joined, services, ctx, notes).then((smaller) =>
        Object.freeze({ kind: 'request' as const, request: smaller }),
      );
    };
    return {
      on: {
        request(frame, ctx): RequestFrame | undefined | Promise<RequestFrame | undefined> {
          const pending = services.conversations.ready(frame.request);
          return pending === undefined
            ? handle(frame, ctx)
            : pending.then(() => handle(frame, ctx));
        },
      },
    };
  },
});
