/** `svc check-alerts`: evaluates the rules of `alerts`, and tests their targets. */
import { Command, Option } from 'clipanion';
import { JsonCommand } from '../command.ts';
import type { AlertResult, AlertsJson } from '../../server/alerts/evaluate.ts';
import type { Notifier, TestedTarget } from '../../server/alerts/notify/notifier.ts';
import type { Config } from '../../server/config/config.ts';
import { exitCodes } from '../exit.ts';
import { configInUse } from '../parse/config-in-use.ts';
import { controlIfRunning } from '../remote.ts';

/** A person waits at the terminal: fewer attempts than in a proxy. */
const RETRY_AFTER_MS = [1000, 4000];

/** Added to errors of a proxy that was started before its file was changed. */
const RELOAD_HINT = '. `svc config reload` makes it read the configuration again.';

interface Tested {
  readonly tested: readonly TestedTarget[];
}

class CheckAlerts extends JsonCommand {
  static override paths = [['check-alerts']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'Evaluate the alert rules; exits with 1 when one fires',
    details:
      'A running proxy evaluates its current rules. Without one, or with --config, the rules of the configuration are evaluated on the ledger, without the figures that only a running proxy knows. Alerts that begin or end are sent to the targets of `notify`. With --test each target gets a test message; the exit code is 1 if one was not delivered.',
    examples: [
      ['Look', '$0 check-alerts'],
      ['Whether webhooks and commands work', '$0 check-alerts --test'],
      ['For a script', '$0 check-alerts --json'],
    ],
  });

  config = Option.String('--config', { description: 'Config file with the rules and the ledger' });
  test = Option.Boolean('--test', false, { description: 'Send a test to every target of notify' });
  /** Whether a running proxy responded, whose rules may be older than the file. */
  #isOfProxy = false;

  async execute() {
    if (this.test) return this.printTested(await this.sendTests());
    const { alerts, firing } = await this.evaluate();
    if (this.json) this.printJson({ firing, alerts });
    else if (alerts.length === 0)
      this.note(
        this.#isOfProxy
          ? `The running proxy has no alert rules in force${RELOAD_HINT}`
          : 'No alert rules are configured; `alerts` in the configuration defines them.',
      );
    else {
      const { colors } = this;
      for (const { firing: isFiring, value, text } of alerts) {
        const quietSign = value === null ? colors.yellow('?') : colors.green('ok');
        this.print(`${isFiring ? colors.red('✗') : quietSign} ${text}`);
      }
    }
    return firing ? exitCodes.internal : 0;
  }

  private printTested({ tested }: Tested): number {
    const { colors } = this;
    if (this.json) this.printJson({ tested });
    else if (tested.length === 0)
      this.note(
        this.#isOfProxy
          ? `No alert rule that the running proxy has in force has a \`notify\`${RELOAD_HINT}`
          : 'No alert rule has a `notify`; nothing is sent anywhere.',
      );
    else
      for (const { alert, target, delivered, result } of tested)
        this.print(
          `${delivered ? colors.green('ok') : colors.red('✗')} ${alert}: ${target}: ${delivered ? 'delivered, ' : ''}${result}`,
        );
    return tested.every(({ delivered }) => delivered) ? 0 : exitCodes.internal;
  }

  private async evaluate(): Promise<AlertsJson> {
    if (this.config === undefined) {
      const result = await controlIfRunning<AlertsJson>(this.home, 'check-alerts');
      this.#isOfProxy = result !== undefined;
      if (result !== undefined) return result;
    }
    const { alertsJson } = await import('../../server/alerts/evaluate.ts');
    return alertsJson(await this.evaluateHere((results) => Promise.resolve(results)));
  }

  private async sendTests(): Promise<Tested> {
    if (this.config === undefined) {
      const result = await controlIfRunning<Tested>(this.home, 'check-alerts', 'test');
      this.#isOfProxy = result !== undefined;
      if (result !== undefined) return result;
    }
    return this.evaluateHere(async (results, notifier) => ({
      tested: await notifier.test(results),
    }));
  }

  /** Evaluates the rules without a proxy, with a notifier to send the alerts. */
  private async evaluateHere<T>(
    work: (results: readonly AlertResult[], notifier: Notifier) => Promise<T>,
  ): Promise<T> {
    const { context } = this;
    const [{ config }, { createNotifier }, { createOutbound }, { createUpstream }, { createTurn }] =
      await Promise.all([
        configInUse(this.config, context),
        import('../../server/alerts/notify/notifier.ts'),
        import('../../server/outbound/outbound.ts'),
        import('../../stages/providers/undici-upstream.ts'),
        import('../../engine/index.ts'),
      ]);
    const { alerts, home } = config;
    const upstream = createUpstream(createOutbound(config.outbound), createTurn());
    try {
      const notifier = createNotifier({
        upstream,
        clock: context.clock,
        random: context.random,
        env: context.env,
        home: () => home,
        version: context.version,
        retryAfterMs: RETRY_AFTER_MS,
        onFailure: (text) => this.note(`Alert ${text}`),
      });
      const results = alerts.length === 0 ? [] : await this.results(config);
      // A beginning is stored as announced, so it must be sent.
      notifier.notify(results);
      await notifier.idle();
      return await work(results, notifier);
    } finally {
      await upstream.close();
    }
  }

  private async results({ alerts, home }: Config): Promise<readonly AlertResult[]> {
    const { context } = this;
    const [{ evaluateAlerts }, { withLedger }] = await Promise.all([
      import('../../server/alerts/evaluate.ts'),
      import('../ledger.ts'),
    ]);
    return evaluateAlerts(alerts, {
      nowMs: context.clock.wallMs(),
      home,
      live: undefined,
      ask: (work) => withLedger(context, this.config, work),
    });
  }
}

export const commands = [CheckAlerts];
