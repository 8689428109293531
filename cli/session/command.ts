/** `svc run`: starts a client so that it goes through the proxy, and shows the effect. */
import { basename } from 'node:path';
import { Command, Option } from 'clipanion';
import { SvcCommand } from '../command.ts';
import { SvcError, isSvcError } from '../../engine/error.ts';
import { toReachableUrl } from '../address.ts';
import type { CliContext } from '../context.ts';
import { listeningUrl, runningInstance, startInBackground } from '../process/daemon.ts';
import { clientVariables } from '../integrate/client.ts';
import { clients } from '../integrate/clients.ts';
import { bypassReason } from '../integrate/bypass.ts';
import { withUserCommands } from '../screen/output.ts';
import { checkProgram, runChild } from './child.ts';
import { printReceipt, receiptJson, receiptOf } from './receipt.ts';

class Run extends SvcCommand {
  static override paths = [['run']];
  static override usage = Command.Usage({
    category: 'Run',
    description: 'Start a client through svc; then show cost and savings',
    details:
      "svc's own options come before the client; what follows it is passed to the client, with or without `--`. The client gets the base URLs in its environment, or as arguments where it reads no variable; no file of its own is changed. If neither is possible, svc says so first, with instructions. If no proxy runs, one is started in the background and keeps running. With --forward svc is the client's HTTPS_PROXY in place of its base URL: it intercepts the hosts of your providers with its own certificate and tunnels all others unread, so the client keeps features that need its vendor's own address. The exit code is the client's. The receipt on stderr counts what went through the proxy meanwhile, by the ledger.",
    examples: [
      ['Claude Code', '$0 run claude'],
      ['What follows the client is for the client', '$0 run claude -p "explain this folder"'],
      ['A script, without a receipt', '$0 run --quiet python agent.py'],
      ['With every feature of the original address', '$0 run --forward claude'],
      ['The receipt as JSON on stderr', '$0 run --json codex exec "fix the test"'],
    ],
  });

  forward = Option.Boolean('--forward', false, {
    description: 'Use HTTPS_PROXY in place of the base URL',
  });
  quiet = Option.Boolean('--quiet,-q', false, { description: 'No receipt' });
  json = Option.Boolean('--json,--raw', false, { description: 'The receipt as JSON, on stderr' });
  command = Option.Proxy({ name: 'client', required: 1 });

  async execute() {
    const { context } = this;
    // Checked before a proxy is started for it.
    checkProgram(this.command[0] ?? '', context);
    const wasRunning = runningInstance(this.home) !== undefined;
    const url = await this.proxyUrl();
    const sinceMs = context.clock.wallMs();
    const code = this.forward
      ? await this.runForward(url, wasRunning)
      : await this.runByBaseUrl(url);
    if (this.quiet) return code;
    const config = runningInstance(this.home)?.flags.config;
    try {
      const receipt = await receiptOf(context, config, { sinceMs });
      if (this.json) context.stderr.write(`${JSON.stringify(receiptJson(receipt))}\n`);
      else printReceipt(context, receipt);
    } catch (thrown) {
      if (!(thrown instanceof SvcError)) throw thrown;
      // The client's own exit code matters more than a missing receipt.
      this.note(`svc: no receipt: ${thrown.message}`);
    }
    return code;
  }

  private runByBaseUrl(url: string): Promise<number> {
    const { context, home } = this;
    const [program = '', ...rest] = this.command;
    const client = clients.find(({ programs }) => programs.includes(basename(program)));
    const bypass = client && bypassReason(client, { home, url, context });
    if (bypass !== undefined) this.note(`svc: ${bypass}`);
    const own = client?.runAdditions?.({ url, home, where: context, rest });
    return runChild(
      [program, ...(own?.args ?? []), ...rest],
      { ...clientEnvironment(context, url), ...own?.env },
      context,
    );
  }

  private async runForward(url: string, wasRunning: boolean): Promise<number> {
    const { prepareForwardRun } = await import('../forward/forward-run.ts');
    const program = basename(this.command[0] ?? '');
    const run = await prepareForwardRun(this.context, { url, program, wasRunning });
    try {
      for (const remark of run.remarks) this.note(`svc: ${withUserCommands(remark, this.context)}`);
      return await runChild(this.command, run.env, this.context);
    } finally {
      run.end();
    }
  }

  /** Returns the proxy's address; starts one if none runs. */
  private async proxyUrl(): Promise<string> {
    const { context, home } = this;
    const running = await listeningUrl(home, context);
    if (running !== undefined) return toReachableUrl(running);
    try {
      const { url, pid } = await startInBackground(home, {}, context, context.cwd);
      if (!this.quiet)
        this.note(
          `svc is running in the background now, on ${url} (pid ${pid}); \`svc stop\` ends it.`,
        );
      return toReachableUrl(url);
    } catch (thrown) {
      // Another start was faster.
      const other = isSvcError(thrown) && thrown.kind === 'conflict';
      const url = other ? await listeningUrl(home, context) : undefined;
      if (url === undefined) throw thrown;
      return toReachableUrl(url);
    }
  }
}

/** Returns the environment of a client that goes through the proxy at `url`. */
function clientEnvironment({ env }: CliContext, url: string) {
  const { hostname } = new URL(url);
  const hasProxy = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].some(
    (name) => (env[name] ?? env[name.toLowerCase()] ?? '') !== '',
  );
  return { ...env, ...clientVariables(url), ...(hasProxy && withoutProxy(env, hostname)) };
}

/**
 * Adds to NO_PROXY: a client that sends everything through the network's proxy would not reach the
 * one on this machine.
 */
function withoutProxy(env: CliContext['env'], hostname: string) {
  const names = ['NO_PROXY', 'no_proxy'];
  const present = names
    .map((name) => env[name])
    .find((value) => value !== undefined && value !== '');
  const all = [...new Set([...(present ?? '').split(','), hostname, 'localhost'])];
  const value = all.filter((one) => one !== '').join(',');
  return Object.fromEntries(names.map((name) => [name, value]));
}

export const commands = [Run];
