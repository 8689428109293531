/** `svc dashboard`: a live view of the proxy in the terminal. */
import { Command, Option } from 'clipanion';
import { SvcCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import type { LiveState, ReportJson, RequestsJson } from '../../server/dashboard/contract.ts';
import { sinceMsOf } from '../../server/dashboard/page/frame/ranges.ts';
import type { CliContext } from '../context.ts';
import { columnsOf, isTerminal } from '../screen/output.ts';
import { runningInstance } from '../process/daemon.ts';
import { control, readOwn } from '../remote.ts';
import { openBrowser } from '../screen/browser.ts';
import { originsElsewhere } from '../screen/own-addresses.ts';
import { showDashboard, urlOf } from './dashboard.ts';
import { followEvents } from './feed.ts';
import { bodyOf } from './render.ts';
import { firstModel } from './model.ts';

/** Requests in a snapshot. */
const MAX_ROWS = 10;
/** Time limit for a proxy's first state. */
const FIRST_STATE_MS = 5000;

class Dashboard extends SvcCommand {
  static override paths = [['dashboard']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'Live view of requests, savings and failures',
    details: 'Without a terminal it prints the first screen once. Press ? for the keys, q to quit.',
    examples: [
      ['In this terminal', '$0 dashboard'],
      ['The one in the browser', '$0 dashboard --public'],
    ],
  });

  public = Option.Boolean('--public', false, {
    description: 'Open the dashboard in the browser; for other machines a link that works once',
  });
  json = Option.Boolean('--json,--raw', false, { description: 'Print the figures once, as JSON' });

  async execute() {
    const { context, home } = this;
    if (this.public) return this.#printAddress(home);
    const isScreen =
      isTerminal(context.stdout) &&
      'isTTY' in context.stdin &&
      context.stdin.isTTY === true &&
      context.env['TERM'] !== 'dumb';
    if (isScreen && !this.json) await showDashboard(context, home);
    else await this.#snapshot(home);
  }

  async #printAddress(home: string): Promise<void> {
    // Ask the proxy whether it runs: a pid file alone may be stale.
    await readOwn(home, '/health');
    const url = urlOf(home);
    if (url === null) throw new SvcError('unavailable', 'The proxy does not say where it listens');
    const elsewhere = originsElsewhere(runningInstance(home)?.url ?? url);
    const login = elsewhere.length === 0 ? undefined : await control(home, 'dashboard-link');
    const page = `${url}/dashboard`;
    // The part after # stays in the browser: it is in no server's log.
    const links = elsewhere.map(
      (origin) => `${origin}/dashboard/login#${String(login?.['token'])}`,
    );
    if (this.json)
      return this.printJson({
        url: page,
        ...(login !== undefined && {
          login_urls: links,
          key_id: login['key_id'],
          expires_in_s: login['expires_in_s'],
        }),
      });
    this.print(page);
    for (const link of links) this.print(link);
    if (login !== undefined)
      this.note(
        `The ${links.length === 1 ? 'link' : 'links'} for other machines let one browser in, once, within five minutes. It stays for seven days at most, and no longer than the key ${String(login['key_id'])}.`,
      );
    openBrowser(this.context, page);
  }

  async #snapshot(home: string): Promise<void> {
    const { context } = this;
    const first = firstModel({
      version: context.version,
      program: context.program,
      url: urlOf(home),
      nowMs: context.clock.wallMs(),
    });
    const since = new Date(sinceMsOf(first.range, first.nowMs)).toISOString();
    const report = await readOwn<ReportJson>(home, `/dashboard/api/report?since=${since}`);
    const { requests } = await readOwn<RequestsJson>(
      home,
      `/dashboard/api/requests?since=${since}&limit=${MAX_ROWS}`,
    );
    const live = await presentState(context, home);
    if (this.json) return this.printJson({ state: live, report, requests });
    const model = { ...first, connection: 'live' as const, live, report, requests };
    for (const line of bodyOf(model, columnsOf(context.stdout), 0, this.colors)) this.print(line);
  }
}

/** Returns the first state that the proxy sends. Throws `unavailable`. */
async function presentState({ clock }: CliContext, home: string): Promise<LiveState> {
  const abort = new AbortController();
  const stop = clock.after(FIRST_STATE_MS, () => abort.abort());
  let state: LiveState | undefined;
  let cause = 'The proxy does not send its state';
  let cure: string | undefined;
  const ignore = (): void => undefined;
  await followEvents(
    home,
    clock,
    {
      opened: ignore,
      rows: ignore,
      log: ignore,
      lost(words) {
        cause = words[0] ?? cause;
        cure = words[1];
        abort.abort();
      },
      state(live) {
        state = live;
        abort.abort();
      },
    },
    abort.signal,
  );
  stop();
  if (state === undefined) throw new SvcError('unavailable', cause, { cure });
  return state;
}

export const commands = [Dashboard];
