/**
 * `svc doctor`: checks everything that a request needs, reports problems, and fixes what is safe to
 * fix.
 */
import { Command, Option } from 'clipanion';
import { JsonCommand } from '../command.ts';
import { readInstance } from '../process/daemon.ts';
import { exitCodes } from '../exit.ts';
import { counted } from '../screen/output.ts';
import type { Colors } from '../screen/output.ts';
import { findingsOrFault, worstOf } from './finding.ts';
import type { Finding, Level } from './finding.ts';

class Doctor extends JsonCommand {
  static override paths = [['doctor']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'Check everything a request needs; suggest cures',
    details:
      'It sends no question to a model, so it costs nothing: each provider gets a HEAD request, and is asked for its models with each configured key. With --offline it sends nothing. Exit code 0 when there is nothing worse than a warning, else that of the worst finding.',
    examples: [
      ['Look at everything', '$0 doctor'],
      ['Fix what is safe: file modes, a stale pid file, missing folders', '$0 doctor --fix'],
      ['Without asking any provider', '$0 doctor --offline'],
      ['For a bug report or a monitor', '$0 doctor --json'],
    ],
  });

  fix = Option.Boolean('--fix', false, { description: 'Fix what is safe, then check again' });
  offline = Option.Boolean('--offline', false, { description: 'Ask no provider' });

  async execute() {
    let findings = await this.examine();
    const fixed: string[] = [];
    if (this.fix) {
      for (const { check, text, fix } of findings) {
        if (fix === undefined) continue;
        fix();
        fixed.push(`${check}: ${text}`);
      }
      if (fixed.length > 0) findings = await this.examine();
    }
    const worst = worstOf(findings);
    const code = worst?.level === 'fault' ? exitCodes[worst.kind ?? 'internal'] : 0;
    if (this.json) {
      this.printJson({
        status: worst?.level ?? 'ok',
        exit_code: code,
        fixed,
        findings: findings.map(({ check, level, text, cure, fix }) => ({
          check,
          level,
          text,
          cure: cure ?? null,
          fixable: fix !== undefined,
        })),
      });
      return code;
    }
    this.show(findings, fixed);
    return code;
  }

  private async examine(): Promise<Finding[]> {
    const { context, home } = this;
    const [homeChecks, kept, machine, proxy, forward, data, upstream, redis] = await Promise.all([
      import('./home.ts'),
      import('./home-files.ts'),
      import('./machine.ts'),
      import('./proxy.ts'),
      import('./forward.ts'),
      import('./data.ts'),
      import('./upstream.ts'),
      import('./redis.ts'),
    ]);
    // Uses the flags of the running proxy; otherwise what a start here would read.
    const { loaded, findings } = await homeChecks.checkConfig(
      context,
      readInstance(home)?.flags ?? {},
    );
    const examined = { context, home, loaded };
    const [running, upstreams, ...others] = await Promise.all([
      findingsOrFault('Proxy', () => proxy.checkProxy(examined)),
      this.offline ? Promise.resolve([]) : upstream.checkUpstreams(examined),
      upstream.checkKeys(examined, this.offline),
      findingsOrFault('Ledger', () => data.checkLedger(examined)),
      findingsOrFault('Errors', () => data.checkErrors(examined)),
      findingsOrFault('Prices', () => data.checkPrices(examined)),
      findingsOrFault('Vault', () => data.checkVaultIndex(examined)),
      findingsOrFault('Fleet', () => kept.checkFleet(examined)),
      findingsOrFault('Proxy keys', () => kept.checkProxyKeys(examined)),
      findingsOrFault('Rules', () => kept.checkRules(examined)),
      machine.checkSqlite(examined),
      findingsOrFault('Redis', () => redis.checkRedis(examined)),
    ]);
    return [
      findings,
      await findingsOrFault('Home folder', () => homeChecks.checkHome(examined)),
      await findingsOrFault('Pid file', () => homeChecks.checkPidFile(examined)),
      running,
      await findingsOrFault('Clients', () => proxy.checkClients(examined)),
      await findingsOrFault('Forward mode', () => forward.checkForward(examined)),
      upstreams,
      ...others,
      data.checkSubscription(examined),
      machine.checkNode(examined),
      machine.checkProxyVariables(examined),
      machine.checkDisk(examined),
    ].flat();
  }

  private show(findings: readonly Finding[], fixed: readonly string[]): void {
    const { colors } = this;
    const width = Math.max(...findings.map(({ check }) => check.length));
    for (const { check, level, text, cure } of findings) {
      this.print(`${signOf(level, colors)} ${check.padEnd(width)}  ${text}`);
      if (cure !== undefined) this.print(`  ${''.padEnd(width)}  ${colors.dim(`> ${cure}`)}`);
    }
    for (const one of fixed) this.note(`Fixed: ${one}`);
    // The list may exceed the screen, so faults are repeated at the end.
    const faultFindings = findings.filter(({ level }) => level === 'fault');
    if (faultFindings.length > 0) this.print();
    for (const { check, text, cure } of faultFindings) {
      this.print(`${signOf('fault', colors)} ${check}: ${text}`);
      if (cure !== undefined) this.print(`  ${colors.dim(`> ${cure}`)}`);
    }
    const count = (level: Level) => findings.filter((one) => one.level === level).length;
    const faults = count('fault');
    const warnings = count('warning');
    const fixable = findings.filter(({ fix }) => fix !== undefined).length;
    this.note(
      faults + warnings === 0
        ? 'All is well.'
        : `${counted(faults, 'fault')}, ${counted(warnings, 'warning')}${fixable === 0 ? '' : `; \`svc doctor --fix\` can fix ${fixable} of them`}.`,
    );
  }
}

function signOf(level: Level, colors: Colors): string {
  const signs = {
    ok: colors.green('✓'),
    note: colors.dim('·'),
    warning: colors.yellow('!'),
    fault: colors.red('✗'),
  } satisfies Record<Level, string>;
  return signs[level];
}

export const commands = [Doctor];
