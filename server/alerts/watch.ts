/** The alerts of a running proxy: evaluated every minute, and on request by a command. */
import { toSvcError } from '../../engine/index.ts';
import { unhealthyProviders } from '../facts/provider-reasons.ts';
import { planFigures } from '../facts/limits.ts';
import { budgetUsedPercent } from '../facts/spending.ts';
import type { Config } from '../config/config.ts';
import type { ServerServices } from '../services.ts';
import { alertText, alertsJson, evaluateAlerts } from './evaluate.ts';
import type { AlertResult, AlertsJson } from './evaluate.ts';
import { createNotifier } from './notify/notifier.ts';
import type { NotifierOptions, TestedTarget } from './notify/notifier.ts';

export const EVERY_MS = 60_000;

export type AlertWatch = ReturnType<typeof watchAlerts>;

export interface AlertWatchOptions {
  readonly config: () => Config;
  readonly services: Pick<
    ServerServices,
    | 'activeAlerts'
    | 'deferredWork'
    | 'clock'
    | 'ledgerFile'
    | 'log'
    | 'planLimits'
    | 'questions'
    | 'spending'
    | 'states'
    | 'upstream'
  >;
  readonly notifying: Pick<NotifierOptions, 'env' | 'random' | 'version'>;
}

/** Starts watching; the first evaluation is a minute later. Without rules nothing is queried. */
export function watchAlerts({ config, services, notifying }: AlertWatchOptions) {
  const { activeAlerts, deferredWork, clock, ledgerFile, log, questions, states } = services;
  const notifier = createNotifier({
    ...notifying,
    upstream: services.upstream,
    clock,
    home: () => config().home,
    onFailure: (text) => log.error(`alert ${text}`),
  });
  let lastEvaluation: Promise<unknown> = Promise.resolve();
  let stopped = false;
  let cancel = clock.after(EVERY_MS, evaluateAndReschedule);

  async function evaluate(): Promise<readonly AlertResult[]> {
    const { alerts, home } = config();
    if (alerts.length === 0) {
      activeAlerts.update([]);
      return [];
    }
    deferredWork.flush();
    await ledgerFile.flush();
    const results = await evaluateAlerts(alerts, {
      nowMs: clock.wallMs(),
      home,
      live: {
        unhealthyProviders: unhealthyProviders(states),
        droppedRows: ledgerFile.stats().dropped,
        budgetUsedPercent: budgetUsedPercent(services.spending),
        ownerBudgetUsedPercent: services.spending.ownersUsedPercent(),
        ...planFigures(services.planLimits, clock.wallMs()),
      },
      ask: (work) => questions.ask(work),
    });
    activeAlerts.update(results);
    notifier.notify(results);
    for (const result of results) {
      if (result.news === 'begun') log.warning(`alert begins: ${alertText(result)}`);
      if (result.news === 'ended') log.info(`alert ends: ${alertText(result)}`);
    }
    return results;
  }

  /** Serialized: two evaluations at once would announce a beginning twice. */
  function evaluateInTurn(): Promise<readonly AlertResult[]> {
    const result = lastEvaluation.then(evaluate, evaluate);
    lastEvaluation = result;
    return result;
  }

  function evaluateAndReschedule(): void {
    void evaluateInTurn()
      .catch((thrown: unknown) =>
        log.error(`alerts: ${toSvcError(thrown).message}`, { cause: thrown }),
      )
      .finally(() => {
        if (!stopped) cancel = clock.after(EVERY_MS, evaluateAndReschedule);
      });
  }

  return {
    /** Evaluates the rules now; rejects if their states cannot be stored. */
    check: async (): Promise<AlertsJson> => alertsJson(await evaluateInTurn()),
    /** Evaluates the rules and sends a test to each of their targets. */
    async test(): Promise<{ readonly tested: readonly TestedTarget[] }> {
      return { tested: await notifier.test(await evaluateInTurn()) };
    },
    stop(): void {
      stopped = true;
      cancel();
      const undelivered = notifier.stop();
      if (undelivered > 0)
        log.warning(`alerts: ${undelivered} could not be delivered before the stop`);
    },
  };
}
