/**
 * The attempt loop: one provider after another, until something can be shown to the client. After
 * the first content nothing is retried. Each attempt ends in a `Step`, which names what is next.
 */
import { SvcError } from '../../engine/index.ts';
import type { Answer } from '../../engine/index.ts';
import type { ProxyFrame } from '../model/frame.ts';
import { THOUGHT_MISMATCH } from '../model/attempt.ts';
import { modelOf } from '../model/request.ts';
import type { ProxyRequest, RouteTarget } from '../model/request.ts';
import { providerNode } from '../providers/provider-node.ts';
import type { AttemptScope } from './attempt-scope.ts';
import { toClient } from './failures.ts';
import type { Unsupported } from '../dialect/translate/translate.ts';
import { FOREIGN, sealedIn } from './request/foreign-thoughts.ts';
import { logFailover } from './failover-log.ts';
import { planLimitReason } from './plan-limit.ts';
import { prepare } from './request/prepare.ts';
import type { PrepareOptions } from './request/prepared.ts';
import { passedOver } from './step.ts';
import type { Failure, Outcome, TargetStep } from './step.ts';
import { tryProvider } from './try-provider.ts';
import type { Choice } from './try-provider.ts';

/**
 * Tries the targets in order. Those skipped to spare their plans are tried at the end if no other
 * could answer. Throws the most informative failure if none of them can answer.
 */
export async function answerFrom(
  request: ProxyRequest,
  targets: readonly RouteTarget[],
  scope: AttemptScope,
): Promise<Answer<ProxyFrame>> {
  const failures: Failure[] = [];
  const queue = [...targets];
  for (let index = 0; index < queue.length; index += 1) {
    const target = queue[index]!;
    // Only the first target's price was checked before.
    const spending = index === 0 ? undefined : request.report.spending;
    const fault = spending?.limitFor?.(target);
    const outcome =
      fault === undefined
        ? await outcomeOf(request, scope, {
            target,
            isLast: index === queue.length - 1,
            mayBeSpared: index < targets.length - 1,
            charge: spending && (() => spending.moveTo?.(target)),
          })
        : passedOver(scope, target, fault.message, fault);
    if (outcome.next === 'answer') {
      scope.servedBy(target.provider);
      scope.state.live = outcome.live;
      logFailover(targets, target, failures, scope);
      return outcome.answer;
    }
    failures.push(outcome.failure);
    if (outcome.failure.how === 'spared') queue.push(target);
    if (outcome.next === 'give_up') break;
  }
  return toClient(failures, scope);
}

/** Refusals that say nothing about other conversations with the same provider. */
const OF_CONVERSATION: ReadonlySet<Unsupported> = new Set([THOUGHT_MISMATCH, FOREIGN]);

/** What the provider is known to refuse at the time of this attempt. */
type Known = Pick<PrepareOptions, 'chatOnly' | 'unsupported'>;

/** Calls one provider, and again in another form as long as the result asks for that. */
async function outcomeOf(
  request: ProxyRequest,
  scope: AttemptScope,
  choice: Choice,
): Promise<Outcome> {
  const { target } = choice;
  const { provider } = target;
  let { chatOnly, unsupported }: Known = {
    chatOnly: scope.learned.chatOnly,
    unsupported: scope.learned.unsupported.of(target, modelOf(request)),
  };
  let step = await callAsNode(request, scope, choice, { chatOnly, unsupported });
  // The cost was reserved for the first attempt.
  const again: Choice = { ...choice, charge: undefined };
  for (;;) {
    switch (step.next) {
      case 'other_endpoint':
        chatOnly = new Set([provider]);
        step = await callAsNode(request, scope, again, { chatOnly, unsupported });
        // A 404 on both paths was about the model, and says nothing about the paths.
        if (lastStatus(scope) !== 404) scope.learned.chatOnly.add(provider);
        break;
      case 'without': {
        const { part } = step;
        unsupported = new Set([...unsupported, part]);
        if (part === THOUGHT_MISMATCH) noteMismatches(request, provider, scope);
        if (part === FOREIGN) scope.learned.foreign.add(provider, sealedIn(request));
        step = await callAsNode(request, scope, again, { chatOnly, unsupported });
        if (!OF_CONVERSATION.has(part) && (lastStatus(scope) < 400 || step.next === 'without'))
          // A second refusal after it is about something else.
          scope.learned.unsupported.add(target, modelOf(request), part);
        break;
      }
      default:
        return step;
    }
  }
}

function lastStatus({ attempts }: AttemptScope): number {
  return attempts.at(-1)?.status ?? 0;
}

/** Like `callProvider`; if the provider is a node of the graph, its time is recorded. */
function callAsNode(
  request: ProxyRequest,
  scope: AttemptScope,
  choice: Choice,
  known: Known,
): Promise<TargetStep> {
  const node = scope.inner?.(providerNode(choice.target.provider));
  const { clock } = scope.run;
  const startedMs = clock.monotonicMs();
  const step = callProvider(request, scope, choice, known);
  return node === undefined
    ? step
    : step.finally(() => node.recordFrame(startedMs, clock.monotonicMs()));
}

/** Prepares the request for one provider and calls it, with one key after another. */
async function callProvider(
  request: ProxyRequest,
  scope: AttemptScope,
  choice: Choice,
  known: Known,
): Promise<TargetStep> {
  const { services, config } = scope;
  const { target, isLast, mayBeSpared } = choice;
  const provider = services.providers.get(target.provider);
  const state = services.states.get(target.provider);
  if (provider === undefined || state === undefined) {
    throw new SvcError('internal', `There is no provider named '${target.provider}'`);
  }
  const identity = scope.needsEvents || !isLast;
  const { foreign } = scope.learned;
  const options = { target, provider, config, services, identity, foreign, ...known };
  const prepared = await prepare(request, options);
  if ('skip' in prepared) return passedOver(scope, target, prepared.skip);
  const { ready } = prepared;
  const wall = mayBeSpared ? planLimitReason(ready, target, scope) : undefined;
  if (wall !== undefined) return passedOver(scope, target, wall, undefined, 'spared');
  scope.state.notes.push(...ready.notes);
  scope.state.caching = ready.caching;
  scope.state.sent = ready.sent;
  scope.learned.logOmissions(provider.name, ready.notes);
  return tryProvider(ready, state, choice, scope);
}

/**
 * A mismatch is a property of the conversation, not of the provider: from now on its requests ask
 * the provider to drop such blocks.
 */
function noteMismatches(request: ProxyRequest, provider: string, scope: AttemptScope): void {
  const { conversations, log } = scope.services;
  scope.state.notes.push(
    `${provider} refused thoughts that do not match; it was asked to leave them out`,
  );
  log.warning('a provider refused thoughts that do not match what was sent before them', {
    provider,
    request: scope.run.id,
  });
  conversations.noteRefusal();
  conversations.memoryOf(request).set({ dropsThoughts: true });
}
