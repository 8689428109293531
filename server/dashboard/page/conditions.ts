/** The condition of providers and the causes of failures in words, shared by all dashboards. */
import type { LiveState, ReportJson } from '../contract.ts';
import { counted } from '../../words/counted.ts';
import { budgetLeft, conditionOf, problemsOf } from '../../words/problems.ts';
import type { Problem, Provider, Tone } from '../../words/problems.ts';
import { planWindows } from './plan-windows.ts';
import { NONE, dollars, duration, percent, share, short, spanOf, wholeNumber } from './format.ts';

type Providers = Readonly<Record<string, Provider>>;
/** The agents are missing from a proxy of an older version. */
type FailureGroup = Omit<ReportJson['failures'][number], 'client' | 'clients'> &
  Partial<Pick<ReportJson['failures'][number], 'client' | 'clients'>>;

/**
 * Returns a cause in a few words: the status the client got, and our error code or kind if there is
 * one.
 */
export function causeOf({ status, error_code: code, error_kind: kind }: FailureGroup): string {
  const name = code ?? kind?.replaceAll('_', ' ');
  if (name !== undefined && status !== null) return `${status} ${name}`;
  if (status === null) return name ?? 'no answer';
  return status < 400 ? `${status}, broken off` : `${status} from the provider`;
}

/** Returns the agent whose requests failed, how many there were, or a dash. */
export function agentOf({ client, clients = 0 }: FailureGroup): string {
  return clients > 1 ? `${wholeNumber(clients)} agents` : (client ?? NONE);
}

/** Returns which provider failed, and for whom: `chat, for aider`. */
export function partiesOf(group: FailureGroup): string {
  const agent = agentOf(group);
  return `${group.provider ?? 'no provider'}${agent === NONE ? '' : `, for ${agent}`}`;
}

/** Something that is wrong, or about to go wrong. */
export interface Concern {
  /** Commands are in backticks. */
  readonly text: string;
  readonly tone: 'bad' | 'warn';
  /** True if the outlook shows it as a figure too, for a screen without room for both. */
  readonly isFigure?: true;
  readonly next?: NextStep;
}

/** What to do about a concern: a link to a view of the dashboard or to a page of the docs. */
export type NextStep = { readonly name: string } & (
  | { readonly view: string }
  | { readonly docs: string }
);

const NEXT = {
  alert: { name: 'About alerts', docs: 'alerts' },
  budget: { name: 'Change the limit', docs: 'providers#own-rules-budget-cache' },
  dropped: { name: 'Why, and what helps', docs: 'switching#when-a-provider-refuses-anyway' },
  fallback: { name: 'See why in the log', view: 'log' },
  plan: { name: 'Switch before that', docs: 'providers#when-something-fails' },
  provider: { name: 'See the provider', view: 'providers' },
  reason: { name: 'What to do', docs: 'troubleshooting' },
} as const;

/** At or below this remaining percentage a budget is a concern. */
export const LOW_BUDGET_PERCENT = 20;

/**
 * Returns all concerns, worst first. What is bad is what makes `/health` degraded; a proxy of an
 * older version does not list all of it there.
 */
export function concernsOf(live: LiveState): readonly Concern[] {
  const { health, alerts, providers, limits } = live;
  const bad =
    (next: NextStep) =>
    (text: string): Concern => ({ tone: 'bad', text, next });
  const figure = (text: string, next: NextStep): Concern => ({
    tone: 'warn',
    text,
    isFigure: true,
    next,
  });
  const isNamed = (name: string) =>
    health.reasons.some((reason) => reason.includes(`provider ${name}:`));
  const refusing = Object.entries(providers).flatMap(([name, provider]) => {
    const [word, tone] = conditionOf(provider);
    return tone === 'bad' && !isNamed(name) ? [`provider ${name}: ${word}`] : [];
  });
  const nowMs = Date.now();
  const problems = problemsOf({ alerts, budget: health.budget, ...(limits && { limits }) }, nowMs);
  const known = new Set(problems.map(({ text }) => text));
  const textsOf = (kind: Problem['about']) =>
    problems.filter(({ about }) => about === kind).map(({ text }) => text);
  const left = budgetLeft(health.budget);
  const { answered, of } = fallbacksOf(live);
  const dropped = thoughtsDropped(live);
  const plans = planWindows(live, nowMs);
  return [
    ...textsOf('alert').map(bad(NEXT.alert)),
    ...health.reasons
      .filter((text) => !known.has(text))
      .map((text) => bad(isOfProvider(text) ? NEXT.provider : NEXT.reason)(text)),
    ...refusing.map(bad(NEXT.provider)),
    ...textsOf('budget').map((text) => bad(NEXT.budget)(`${text}.`)),
    // With the time of its reset, in the reader's time zone.
    ...plans
      .filter(({ tone }) => tone === 'bad')
      .map(({ name, detail }) => bad(NEXT.plan)(`Plan ${name}: ${detail}.`)),
    ...(health.paused
      ? [{ tone: 'warn', text: 'Paused: requests are sent unchanged until `svc resume`.' } as const]
      : []),
    ...(answered > 0
      ? [
          figure(
            `${counted(answered, 'request')} of the last hour ${answered === 1 ? 'was' : 'were'} answered by a fallback instead of provider${of.length === 1 ? '' : 's'} ${of.join(', ')}.`,
            NEXT.fallback,
          ),
        ]
      : []),
    ...(left !== undefined && left.percent > 0 && left.percent <= LOW_BUDGET_PERCENT
      ? [figure(`${percent(left.percent)} of the ${left.of}'s budget is left.`, NEXT.budget)]
      : []),
    ...plans
      .filter(({ tone }) => tone === 'warn')
      .map(({ name, value, detail }) =>
        figure(`Plan ${name}: ${value} used, ${detail}.`, NEXT.plan),
      ),
    ...(dropped > 0
      ? [
          figure(
            `${counted(dropped, 'thought')} ${dropped === 1 ? 'was' : 'were'} dropped by providers since the start.`,
            NEXT.dropped,
          ),
        ]
      : []),
  ];
}

const isOfProvider = (reason: string): boolean => /^provider \S+:/.test(reason);

/** Returns the overall state in a word or two. */
export function verdictOf(live: LiveState): readonly [word: string, tone: Tone] {
  const concerns = concernsOf(live);
  if (concerns.some(({ tone }) => tone === 'bad')) return ['Degraded', 'bad'];
  if (live.health.paused) return ['Paused', 'warn'];
  return concerns.length > 0 ? ['Needs a look', 'warn'] : ['Working', 'good'];
}

/**
 * Returns how many requests of the last hour a fallback answered, and the providers they were meant
 * for.
 */
export function fallbacksOf({ providers }: { readonly providers: Providers }) {
  const away = Object.entries(providers).flatMap(([name, { tries }]) => {
    const answered = tries?.answered_by_others_last_hour ?? 0;
    return answered > 0 ? [{ name, answered }] : [];
  });
  return {
    answered: away.reduce((sum, { answered }) => sum + answered, 0),
    of: away.map(({ name }) => name),
  };
}

/** Returns the number of thinking blocks that providers have dropped since the start. */
export function thoughtsDropped({ health }: LiveState): number {
  // Missing from a proxy of an older version.
  const { conversations }: Partial<LiveState['health']> = health;
  const dropped = Object.values(conversations?.thoughts_dropped ?? {});
  return dropped.reduce((sum, each) => sum + each, 0);
}

/**
 * Returns details of a provider besides its condition: its requests in the range, and its current
 * state.
 */
export function providerFacts(
  { breaker, health, keys, needs_key: needsKey, pace, stopped, tries }: Provider,
  sums: ReportJson['by_provider'][number] | undefined,
): readonly (readonly [name: string, value: string])[] {
  const recovers = health.recovers_in_s;
  return [
    [
      'Requests',
      sums === undefined
        ? 'none in this range of time'
        : `${short(sums.requests)}, ${share(sums.errors / sums.requests)} failed, ${sums.cost === null ? 'cost unknown' : `${dollars(sums.cost)} paid`}, ${duration(sums.avg_latency_ms)} on average`,
    ],
    ...(tries === undefined
      ? []
      : [
          [
            'Attempts',
            tries.ever
              ? `${wholeNumber(tries.failed_last_hour)} of ${wholeNumber(tries.last_hour)} failed in the last hour`
              : 'none since the start',
          ] as const,
        ]),
    [
      'Breaker',
      `${breaker.state}, ${wholeNumber(breaker.failures)} of ${wholeNumber(breaker.requests)} failed in a minute`,
    ],
    [
      'Health',
      `${health.state}${health.reason === null ? '' : `: ${health.reason}`}${recovers !== null && recovers > 0 ? `, tried again in ${spanOf(recovers)}` : ''}`,
    ],
    ...(pace === null
      ? []
      : [
          [
            'Pace',
            Object.entries(pace)
              .map(([what, value]) => `${what} ${String(value)}`)
              .join(', '),
          ] as const,
        ]),
    ...(stopped === null ? [] : [['Stopped', stopped] as const]),
    ...(keys.length > 0
      ? []
      : [['Keys', needsKey ? 'none of its own: the client’s key is used' : 'needs none'] as const]),
  ];
}
