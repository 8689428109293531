/** The commands that `svc` sends to a running proxy over its control socket. */
import { SvcError } from '../../engine/index.ts';
import type { Learned } from '../../stages/learned/learned.ts';
import type { RuleStore } from '../../stages/route/rules-store.ts';
import type { AlertWatch } from '../alerts/watch.ts';
import type { BrowserSessions } from '../auth/browser-sessions.ts';
import type { App } from '../app.ts';
import type { ControlCommands } from './control.ts';
import type { ReloadReport } from '../routes/config.ts';
import { limitsJson } from '../facts/limits.ts';
import { forceHealth, statesJson } from '../facts/provider-states.ts';
import { doRouteCommand, toRouteCommand } from '../generation/route-rules.ts';
import type { ServerServices } from '../services.ts';
import { spendingJson } from '../facts/spending.ts';

export interface ControlledProxy {
  readonly app: App;
  readonly services: Pick<
    ServerServices,
    | 'deferredWork'
    | 'answers'
    | 'audit'
    | 'log'
    | 'learned'
    | 'planLimits'
    | 'router'
    | 'spending'
    | 'states'
  >;
  /** Where the log was written at the start. */
  readonly logDestination: 'file' | 'stdout';
  readonly routeRules: RuleStore;
  readonly alerts: Pick<AlertWatch, 'check' | 'test'>;
  /** Returns the models of the provider that the input names. */
  readonly listModels: (input: unknown) => Promise<unknown>;
  readonly reload: () => Promise<ReloadReport>;
  readonly stop: () => Promise<void>;
  readonly dashboardLink: BrowserSessions['newLink'];
  /** Commands of the vault. */
  readonly vault: ControlCommands;
}

/** Returns the commands by name. */
export function controlCommands(proxy: ControlledProxy): ControlCommands {
  const { app, services, routeRules, reload, stop } = proxy;
  const { deferredWork, answers, log, learned, planLimits, router, spending, states } = services;
  function pause(paused: boolean) {
    app.paused = paused;
    log.info(
      paused
        ? 'paused by command: requests are sent unchanged'
        : 'resumed by command: requests are compressed again',
    );
    return { paused };
  }
  return {
    ...proxy.vault,
    status: () => ({
      pid: process.pid,
      paused: app.paused,
      log_level: log.level,
      log_destination: log.isEnabled('error') ? proxy.logDestination : null,
      running: app.running.size,
      audit: services.audit.isEnabled,
    }),
    pause: () => pause(true),
    resume: () => pause(false),
    debug(input) {
      if (input === true || input === false) {
        log.setDebug(input);
        log.info(`the log level is now ${log.level}, by command`);
      }
      return { debug: log.level === 'debug', written: log.isEnabled('error') };
    },
    async learn(input) {
      deferredWork.flush();
      const status = learn(learned, input);
      // After the response, the client may rely on the rules surviving a crash.
      await learned.flush();
      return status;
    },
    route: (input) => ({
      ...doRouteCommand(routeRules, toRouteCommand(input), router),
      enabled: router.view().enabled,
    }),
    async spend(input) {
      deferredWork.flush();
      if (input === 'allow') spending.allowNext();
      // Right after a start, earlier spending may not be loaded yet and would be shown as zero.
      if (spending.view().enabled) await spending.recall();
      return spendingJson(spending);
    },
    async 'cache-clear'() {
      const { entries, bytes } = answers.store.stats();
      await answers.store.clear();
      log.info('the response cache was emptied by command', { entries });
      return { entries, bytes };
    },
    'check-alerts': (input) => (input === 'test' ? proxy.alerts.test() : proxy.alerts.check()),
    'list-models': (input) => proxy.listModels(input),
    'provider-status': () => statesJson(states),
    limits: () => limitsJson(planLimits),
    'provider-force-health'(input) {
      const forced = forceHealth(states, input);
      log.info('a provider was set to a state by command', forced);
      return forced;
    },
    async reload() {
      const { configFile, applied, needsRestart, warnings } = await reload();
      return { config_file: configFile, applied, needs_restart: needsRestart, warnings };
    },
    'dashboard-link'() {
      const { token, keyId, expiresInS } = proxy.dashboardLink();
      services.audit.add({ kind: 'key', event: 'login_link', details: { key_id: keyId } });
      return { token, key_id: keyId, expires_in_s: expiresInS };
    },
    stop() {
      // The response must be sent before the socket closes.
      setTimeout(() => void stop(), 10);
      return { stopping: true };
    },
  };
}

/** Runs a `svc learn` command on the learned data. Throws `bad_request` for an unknown one. */
export function learn(learned: Learned, what: unknown): ReturnType<Learned['status']> {
  if (what === 'status') return learned.status();
  if (what === 'reset') return learned.reset();
  if (what === 'apply') return learned.apply();
  throw new SvcError('bad_request', 'learn takes status, reset or apply');
}
