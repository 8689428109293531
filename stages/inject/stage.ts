/**
 * Adds what the user's own files say about the question: at the tail of the
 * message that asks it, within a budget, and the same bytes again in every later
 * turn, so that the provider's prompt cache keeps hitting. Nothing is added
 * where nothing scores.
 */
import { defineStage } from '../../engine/index.ts';
import type { StageContext } from '../../engine/index.ts';
import type { ProxyFrame, RequestFrame } from '../model/frame.ts';
import { appendText, isRewritable, withReport } from '../model/request.ts';
import type { ProxyRequest } from '../model/request.ts';
import { estimateTokens } from '../model/tokens.ts';
import type { Services } from '../services.ts';
import type { SearchHit } from '../vault/index.ts';
import type { InjectConfig } from './config.ts';
import { questionsOf, readInjection } from './query.ts';
import type { Injection, Question } from './query.ts';

/** Dialects whose requests may be rewritten. */
const REWRITTEN = new Set(['messages', 'chat', 'responses']);
const OPENING =
  "\n\n[Added by svc from the user's own indexed files; it may or may not help with the request above.]";
const CLOSING = '[End of what svc added.]';
const NOTHING: Injection = Object.freeze({ text: '', ids: [], tokens: 0 });

/** `path:10-42`, or the path alone for a text that came without lines. */
function placeOf(hit: SearchHit): string {
  const path = hit.sourcePath === '' ? hit.id : hit.sourcePath;
  return hit.startLine > 0 ? `${path}:${hit.startLine}-${hit.endLine}` : path;
}

async function capsuleOf(
  content: string,
  query: string,
  config: InjectConfig,
  services: Services,
  ctx: StageContext,
): Promise<string> {
  if (!config.capsules || content.length <= config.capsuleMinChars) return content;
  const result = await services.compressor.run(
    {
      blocks: [
        { index: 0, role: 'user', kind: 'user_text', text: query },
        { index: 1, role: 'tool', kind: 'tool_result', text: content },
      ],
      options: {
        mode: 'hybrid',
        maxChars: 120,
        thresholdTokens: 0,
        logBudgetTokens: config.budgetTokens,
      },
    },
    1000,
    ctx.run.signal,
  );
  const smaller = 'outcomes' in result ? result.outcomes[1]?.text : undefined;
  return smaller !== undefined && smaller.length < content.length ? smaller : content;
}

/** The hits that fit, best first, as the text to add. */
async function build(
  hits: readonly SearchHit[],
  query: string,
  config: InjectConfig,
  services: Services,
  ctx: StageContext,
): Promise<Injection> {
  const parts: string[] = [];
  const ids: string[] = [];
  let tokens = estimateTokens(OPENING) + estimateTokens(CLOSING);
  for (const hit of hits) {
    const content = await capsuleOf(hit.content, query, config, services, ctx);
    const part = `--- ${placeOf(hit)}\n${content}`;
    const size = estimateTokens(part) + 1;
    if (tokens + size > config.budgetTokens) continue;
    tokens += size;
    parts.push(part);
    ids.push(hit.id);
  }
  if (parts.length === 0) return NOTHING;
  return { text: [OPENING, ...parts, CLOSING].join('\n'), ids, tokens };
}

const keyOf = (question: Question): string => `inject:${question.prefix}`;

/** Asks the vault for a question that is new, and remembers the answer, also an empty one. */
async function ask(
  question: Question,
  present: ReadonlySet<string>,
  config: InjectConfig,
  services: Services,
  ctx: StageContext,
): Promise<Injection> {
  const { vault, decisions } = services;
  if (vault === undefined) return NOTHING;
  const hits = await vault.search(question.query, {
    top: config.topK + present.size,
    minScore: config.minScore,
  });
  const fresh = hits.filter((hit) => !present.has(hit.id)).slice(0, config.topK);
  const injection = await build(fresh, question.query, config, services, ctx);
  decisions.set(keyOf(question), JSON.stringify(injection));
  return injection;
}

async function withInjections(
  request: ProxyRequest,
  config: InjectConfig,
  services: Services,
  ctx: StageContext,
): Promise<ProxyRequest> {
  let injected = request;
  const present = new Set<string>();
  let tokens = 0;
  let added = 0;
  for (const question of questionsOf(request.original.blocks())) {
    let injection = readInjection(services.decisions.get(keyOf(question)));
    if (injection === undefined && question.isLast && config.enabled) {
      injection = await ask(question, present, config, services, ctx);
      added = injection.ids.length;
    }
    if (injection === undefined || injection.text === '') continue;
    injected = appendText(injected, question.message, injection.text);
    for (const id of injection.ids) present.add(id);
    tokens += injection.tokens;
  }
  ctx.note('blocks_injected', added);
  ctx.note('blocks_repeated', present.size - added);
  ctx.note('tokens_injected', tokens);
  if (present.size === 0) return request;
  return withReport(injected, { injected: [...present].toReversed(), injectedTokens: tokens });
}

/** Rewrites `request`. If the vault fails, the request goes out without it. */
export const inject = defineStage<ProxyFrame, InjectConfig, Services>({
  name: 'inject',
  traceAs: 'vault_inject',
  build: (config, services) => ({
    on: {
      request({ request }, ctx): RequestFrame | undefined | Promise<RequestFrame | undefined> {
        if (services.vault === undefined || !isRewritable(request)) return undefined;
        if (!REWRITTEN.has(request.original.dialect.name)) return undefined;
        return withInjections(request, config, services, ctx).then(
          (injected) => Object.freeze({ kind: 'request' as const, request: injected }),
          (thrown: unknown) => {
            const reason = thrown instanceof Error ? thrown.message : 'unknown';
            ctx.note('not_injected_because', reason);
            services.log.warning('the vault could not be asked', { reason });
            return undefined;
          },
        );
      },
    },
  }),
});
