/** `svc start|stop|restart`: the proxy as a background process. */
import { Command, Option } from 'clipanion';
import { SvcCommand } from '../command.ts';
import { homeOf } from '../context.ts';
import type { CliContext } from '../context.ts';
import { readInstance, startInBackground } from '../process/daemon.ts';
import { banner, dashboardOf } from '../process/facts.ts';
import type { ServeFacts } from '../process/facts.ts';
import type { ServeFlags } from '../parse/flags.ts';
import { runForeground } from '../process/foreground.ts';
import { openBrowser } from '../screen/browser.ts';
import { colorsFor, print, printJson } from '../screen/output.ts';
import { noteSigned, signedConversations } from '../process/signed-conversations.ts';
import { stopProxy } from '../process/stopping.ts';
import { ServeOptions } from './serve.ts';

class Start extends ServeOptions {
  static override paths = [['start']];
  static override usage = Command.Usage({
    category: 'Run',
    description: 'Run the proxy; --background leaves the terminal',
    details:
      'In the background it keeps running when the terminal is closed; `svc stop` ends it and `svc logs` shows its log.',
    examples: [
      ['In the background', '$0 start --background'],
      ['In the background on another port', '$0 start --background --port 9000'],
    ],
  });

  background = Option.Boolean('--background', false, { description: 'Detach and return' });
  json = Option.Boolean('--json,--raw', false, {
    description: 'With --background: print the address as JSON',
  });

  async execute() {
    const flags = this.flags();
    if (!this.background) return runForeground(this.context, flags);
    return startAndReport(this.context, flags, this.context.cwd, this.json);
  }
}

class Stop extends SvcCommand {
  static override paths = [['stop']];
  static override usage = Command.Usage({
    category: 'Run',
    description: 'Let running requests finish, then stop the proxy',
    examples: [
      ['Stop when running requests are done', '$0 stop'],
      ['Stop at once', '$0 stop --force'],
    ],
  });

  force = Option.Boolean('--force', false, { description: 'Abort running requests' });
  json = Option.Boolean('--json,--raw', false, {
    description: 'As JSON: the process that was stopped',
  });

  async execute() {
    const stopped = await stopProxy(this.home, this.context, this.force);
    const signed = await signedConversations(this.home, this.context);
    if (stopped !== undefined) noteSigned(signed, 'stop', this.context);
    if (this.json) this.printJson({ pid: stopped?.pid ?? null, signed_conversations: signed });
    else this.print(stopped === undefined ? 'svc is not running' : `Stopped (pid ${stopped.pid})`);
  }
}

class Restart extends ServeOptions {
  static override paths = [['restart']];
  static override usage = Command.Usage({
    category: 'Run',
    description: 'Stop the proxy and start it again in the background',
    details:
      'It starts in the same folder and with the same flags as before; flags given here are added.',
    examples: [
      ['After an upgrade', '$0 restart'],
      ['Move to another port', '$0 restart --port 9000'],
    ],
  });

  force = Option.Boolean('--force', false, { description: 'Abort running requests' });
  json = Option.Boolean('--json,--raw', false, { description: 'Print the address as JSON' });

  async execute() {
    const { context } = this;
    const flags = this.flags();
    const { home } = this;
    const before = readInstance(home);
    const stopped = await stopProxy(home, context, this.force);
    if (stopped === undefined) this.note('svc was not running; starting it.');
    const cwd = before?.cwd ?? context.cwd;
    return startAndReport(context, { ...before?.flags, ...flags }, cwd, this.json);
  }
}

async function startAndReport(
  context: CliContext,
  flags: ServeFlags,
  cwd: string,
  json: boolean,
): Promise<void> {
  const facts = await startInBackground(homeOf(context), flags, context, cwd);
  if (flags.dashboard === true) openBrowser(context, dashboardOf(facts.url));
  if (json) printJson(context, factsJson(facts));
  else {
    const lines = banner(facts, context, colorsFor(context.stdout, context.env));
    for (const line of lines) print(context, line);
    print(context);
    print(
      context,
      `It runs in the background (pid ${facts.pid}): \`svc status\`, \`svc logs\`, \`svc stop\`.`,
    );
  }
}

function factsJson(facts: ServeFacts) {
  return {
    version: facts.version,
    pid: facts.pid,
    url: facts.url,
    ws_url: facts.wsUrl,
    home: facts.home,
    config_file: facts.configFile,
    keys: facts.keys,
    warnings: facts.warnings,
    ledger: facts.ledger,
    log: facts.log,
  };
}

export const commands = [Start, Stop, Restart];
