/**
 * `svc monitor`: the live page on the WebSocket port, served by the proxy or, if none runs, by this
 * command.
 */
import { setTimeout } from 'node:timers/promises';
import { Command, Option } from 'clipanion';
import { SvcCommand } from '../command.ts';
import { toReachableUrl } from '../address.ts';
import type { CliContext } from '../context.ts';
import { configOf, toPort } from '../parse/flags.ts';
import { readInstance, runningInstance } from '../process/daemon.ts';
import type { Instance } from '../process/daemon.ts';
import { onEnd } from '../process/signals.ts';
import { openBrowser } from '../screen/browser.ts';
import { recordMonitor } from './record.ts';

/** Interval at which a monitor checks whether a proxy starts. */
const POLL_MS = 50;

class Monitor extends SvcCommand {
  static override paths = [['monitor']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'A live page in the browser, on one screen',
    details:
      'A running proxy serves the page on its WebSocket port; the command opens it and exits. Otherwise it serves the page itself until a proxy starts, or Ctrl-C.',
    examples: [
      ['On port 8767', '$0 monitor'],
      ['On another port, until Ctrl-C', '$0 monitor --port 9000'],
    ],
  });

  port = Option.String('--port', {
    description: 'Another port (8767 if no proxy runs); 0 picks a free one',
  });
  json = Option.Boolean('--json,--raw', false, { description: 'Print the address as JSON' });

  async execute() {
    const { home } = this;
    const wanted = this.port === undefined ? undefined : toPort(this.port);
    const running = runningInstance(home);
    const url = wanted === undefined ? addressOf(running) : undefined;
    if (url === undefined) return this.#serve(home, wanted);
    this.#print(url);
  }

  async #serve(home: string, wanted: number | undefined): Promise<void> {
    const { context } = this;
    const [{ openMonitor }, { createRequestIds }] = await Promise.all([
      import('./server.ts'),
      import('../../server/http/request-id.ts'),
    ]);
    const { clock, random: randomBytes } = context;
    const newId = createRequestIds({ wallMs: () => clock.wallMs(), randomBytes });
    const monitor = await openMonitor(home, wanted ?? (await usualPort(context)), newId);
    // A monitor on a separate port blocks no proxy.
    const forget = wanted === undefined ? recordMonitor(home) : () => undefined;
    context.events.on('exit', forget);
    try {
      this.#print(monitor.url);
      this.note('Ctrl-C ends it.');
      const ended = await firstOf(context, () =>
        wanted === undefined ? runningInstance(home) : undefined,
      );
      await monitor.close();
      forget();
      if (ended === 'signal') return;
      const url = await proxyAddress(home);
      this.note(
        url === undefined
          ? 'A proxy needed the port; run `svc monitor` again.'
          : `A proxy has started and serves it now: ${url}`,
      );
    } finally {
      forget();
      context.events.off('exit', forget);
    }
  }

  #print(url: string): void {
    if (this.json) this.printJson({ url });
    else this.print(url);
    if (!this.json) openBrowser(this.context, url);
  }
}

/** Returns the port of the monitor for a proxy with this configuration. */
async function usualPort(context: CliContext): Promise<number> {
  const { server } = (await configOf(undefined, context)).config;
  return server.wsPort ?? (server.port === 0 ? 0 : server.port + 1);
}

/** Returns the address of a proxy's monitor; undefined while it does not listen. */
function addressOf(instance: Instance | undefined): string | undefined {
  if (instance?.wsUrl === undefined) return undefined;
  const url = new URL(instance.wsUrl);
  return `${toReachableUrl(`http://${url.host}`)}/`;
}

/** Waits for the first of a signal and a proxy that claims the home folder. */
function firstOf(
  context: CliContext,
  proxy: () => Instance | undefined,
): Promise<'signal' | 'proxy'> {
  const { clock } = context;
  return new Promise((resolve) => {
    const finish = (how: 'signal' | 'proxy'): void => {
      stop();
      stopListening();
      resolve(how);
    };
    const check = (): void => {
      if (proxy() === undefined) stop = clock.after(POLL_MS, check);
      else finish('proxy');
    };
    let stop = clock.after(POLL_MS, check);
    const stopListening = onEnd(context, () => finish('signal'));
  });
}

/** Returns the address of the starting proxy, once it listens; undefined if it gave up. */
async function proxyAddress(home: string): Promise<string | undefined> {
  for (;;) {
    const instance = runningInstance(home);
    const url = addressOf(instance);
    if (url !== undefined || readInstance(home) === undefined || instance === undefined) return url;
    await setTimeout(POLL_MS);
  }
}

export const commands = [Monitor];
