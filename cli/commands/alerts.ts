/** `svc check-alerts`: evaluates the rules of `alerts`. */
import { Command, Option } from 'clipanion';
import { JsonCommand } from '../command.ts';
import type { AlertsJson } from '../../server/alerts/evaluate.ts';
import { exitCodes } from '../exit.ts';
import { configOf } from '../parse/flags.ts';
import { controlIfRunning } from '../remote.ts';

class CheckAlerts extends JsonCommand {
  static override paths = [['check-alerts']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'Evaluate the alert rules; exits with 1 when one fires',
    details:
      'A running proxy evaluates the rules that it has in force. Without one, or with --config, the rules of the configuration are evaluated on the ledger; what only a running proxy knows is then not measured.',
    examples: [
      ['Look', '$0 check-alerts'],
      ['For a script', '$0 check-alerts --json'],
    ],
  });

  config = Option.String('--config', { description: 'Config file with the rules and the ledger' });

  async execute() {
    const { alerts, firing } = await this.evaluate();
    if (this.json) this.printJson({ firing, alerts });
    else if (alerts.length === 0)
      this.note('No alert rules are configured; `alerts` in the configuration defines them.');
    else {
      const { colors } = this;
      for (const { firing: isFiring, value, text } of alerts) {
        const calm = value === null ? colors.yellow('?') : colors.green('ok');
        this.print(`${isFiring ? colors.red('✗') : calm} ${text}`);
      }
    }
    return firing ? exitCodes.internal : 0;
  }

  private async evaluate(): Promise<AlertsJson> {
    const { context } = this;
    if (this.config === undefined) {
      const result = await controlIfRunning<AlertsJson>(this.home, 'check-alerts');
      if (result !== undefined) return result;
    }
    const [{ config }, { alertsJson, evaluateAlerts }, { withLedger }] = await Promise.all([
      configOf(this.config, context),
      import('../../server/alerts/evaluate.ts'),
      import('../ledger.ts'),
    ]);
    if (config.alerts.length === 0) return alertsJson([]);
    const results = await evaluateAlerts(config.alerts, {
      nowMs: context.clock.wallMs(),
      home: config.home,
      live: undefined,
      ask: (work) => withLedger(context, this.config, work),
    });
    return alertsJson(results);
  }
}

export const commands = [CheckAlerts];
