/**
 * Adds excerpts of the user's files that match the question: at the end of the message that asks
 * it, within a budget, and with the same bytes in every later turn, so that the provider's prompt
 * cache keeps hitting. Without a relevant hit nothing is added.
 */
import { defineStage } from '../../engine/index.ts';
import type { StageContext } from '../../engine/index.ts';
import type { Memory } from '../conversations/memory.ts';
import type { Injected } from '../conversations/record.ts';
import type { ProxyFrame, RequestFrame } from '../model/frame.ts';
import { appendText, isRewritable, withReport } from '../model/request.ts';
import type { ProxyRequest } from '../model/request.ts';
import type { Services } from '../services.ts';
import { askVault, findWithdrawn } from './ask.ts';
import type { Withdrawn } from './ask.ts';
import { queryOf } from './query.ts';
import type { InjectConfig } from './settings.ts';
import { createVaultInTime } from './vault-timeout.ts';
import type { VaultInTime } from './vault-timeout.ts';
import { settingsOf, sourcesOf } from './injection.ts';
import type { Injection } from './injection.ts';
import { questionsOf } from './questions.ts';
import type { Question } from './questions.ts';

/** Dialects whose requests may be rewritten. */
const REWRITABLE_DIALECTS = new Set(['messages', 'chat', 'responses']);
/**
 * Additions stay in the conversation for good. After this many budgets nothing more is added, or a
 * long conversation would run out of context because of svc.
 */
const BUDGETS_PER_CONVERSATION = 4;
/**
 * A repeated question with nothing after it is looked up again after this long: shorter repeats are
 * client retries, and a new conversation should see the current files. In the middle of a
 * conversation a decision is final.
 */
const DECISION_VALID_MS = 120_000;

/** State for computing a request's injections. */
interface InjectionWork {
  readonly config: InjectConfig;
  readonly services: Services;
  readonly ctx: StageContext;
  readonly vault: VaultInTime;
  readonly memory: Memory;
  /** Ids of the blocks that earlier messages contain. */
  readonly present: Set<string>;
  /** Added blocks that must not be sent again; while unknown, they are still sent. */
  readonly withdrawn: Withdrawn;
  /** Total tokens of those blocks. */
  tokens: number;
}

function recordedInjection(question: Question, memory: Memory): Injected | undefined {
  return memory.injected(question.prefix) ?? undefined;
}

/**
 * Returns the recorded injection unless it was withdrawn: that outranks keeping the provider's
 * cache, which is lost once.
 */
function validInjection(
  question: Question,
  decided: Injected | undefined,
  { config, services, ctx, withdrawn, memory }: InjectionWork,
): Injection | undefined {
  if ('ids' in withdrawn && decided?.ids.some((id) => withdrawn.ids.has(id)) === true) {
    memory.set({ injected: [[question.prefix, null]] });
    ctx.note('no_longer_sent', 'a block that was added is no longer safe, or was forgotten');
    return undefined;
  }
  if (decided === undefined || !question.isLast) return decided;
  const ageMs = services.clock.wallMs() - decided.atMs;
  const holds = ageMs < DECISION_VALID_MS && decided.settings === settingsOf(config);
  return holds ? decided : undefined;
}

/**
 * Queries the vault for a new question and records the result. An empty result need not be
 * recorded: once a question is followed by another message, it is not looked up again.
 */
async function decide(question: Question, work: InjectionWork): Promise<Injection | undefined> {
  const { config, services, ctx, vault, present, withdrawn, tokens, memory } = work;
  const query = queryOf(question.texts);
  if (query === undefined) return undefined;
  const left = BUDGETS_PER_CONVERSATION * config.budgetTokens - tokens;
  const room = { present, budgetTokens: Math.min(config.budgetTokens, left) };
  // If the vault could not be queried a moment ago, it is not tried again.
  const found =
    'notBecause' in withdrawn
      ? withdrawn
      : await askVault(vault, query, room, config, services, ctx);
  if ('notBecause' in found) {
    ctx.note('not_injected_because', found.notBecause);
    return undefined;
  }
  // The same request may have been sent twice concurrently; both must be sent alike.
  const meanwhile = validInjection(question, recordedInjection(question, memory), work);
  if (meanwhile !== undefined || found.injection === undefined) return meanwhile;
  const decided: Injected = {
    ...found.injection,
    atMs: services.clock.wallMs(),
    settings: settingsOf(config),
  };
  memory.set({ injected: [[question.prefix, decided]] });
  return decided;
}

async function withInjections(
  request: ProxyRequest,
  { config, services, ctx, vault }: Pick<InjectionWork, 'config' | 'services' | 'ctx' | 'vault'>,
): Promise<ProxyRequest> {
  const memory = services.conversations.memoryOf(request);
  const decisions = questionsOf(request.original.blocks()).map(
    (question) => [question, recordedInjection(question, memory)] as const,
  );
  const added = decisions.flatMap(([, decided]) =>
    decided === undefined ? [] : sourcesOf(decided),
  );
  const withdrawn = await findWithdrawn(vault, added, services);
  const present = new Set<string>();
  const work: InjectionWork = {
    config,
    services,
    ctx,
    vault,
    memory,
    present,
    withdrawn,
    tokens: 0,
  };
  const isProbe = request.original.facts.maxOutputTokens === 1;
  let injected = request;
  let newest: readonly string[] = [];
  for (const [question, decided] of decisions) {
    let injection = validInjection(question, decided, work);
    if (injection === undefined && question.isLast && !isProbe) {
      injection = await decide(question, work);
    }
    if (injection === undefined) continue;
    injected = appendText(injected, question.message, injection.text);
    for (const id of injection.ids) present.add(id);
    if (question.isLast) newest = injection.ids;
    work.tokens += injection.tokens;
  }
  ctx.note('blocks_injected', newest.length);
  ctx.note('blocks_repeated', present.size - newest.length);
  ctx.note('tokens_injected', work.tokens);
  if (present.size === 0) return request;
  const repeated = [...present].filter((id) => !newest.includes(id));
  return withReport(injected, {
    injected: [...newest, ...repeated],
    injectedTokens: work.tokens,
  });
}

/** Rewrites `request`. If the vault fails, the request is sent without new additions. */
export const inject = defineStage<ProxyFrame, InjectConfig, Services>({
  name: 'inject',
  build(config, services) {
    const { vault, clock } = services;
    const inTime = vault && createVaultInTime(vault, clock);
    // Never reset: during a rebuild there is briefly no index, but earlier additions must still be
    // sent.
    let hadBlocks = false;
    return {
      on: {
        request({ request }, ctx): RequestFrame | undefined | Promise<RequestFrame> {
          ctx.note('blocks_injected', 0);
          if (!config.enabled || vault === undefined || inTime === undefined) return undefined;
          if (!isRewritable(request)) return undefined;
          if (!REWRITABLE_DIALECTS.has(request.original.dialect.name)) return undefined;
          hadBlocks ||= vault.mayHaveBlocks();
          if (!hadBlocks) return undefined;
          return withInjections(request, { config, services, ctx, vault: inTime }).then(
            (injected) => Object.freeze({ kind: 'request' as const, request: injected }),
          );
        },
      },
    };
  },
});
