/**
 * `svc limits`: how much of each credential's plan and rate limits is used, and how long the rest
 * lasts.
 */
import { join } from 'node:path';
import { Command } from 'clipanion';
import { isSvcError } from '../../engine/error.ts';
import { localTime } from '../../server/dashboard/page/local-time.ts';
import { limitsJson } from '../../server/facts/limits.ts';
import type { LimitJson } from '../../server/facts/limits.ts';
import { LIMITS_FILE, openPlanLimits } from '../../stages/limits/limits-file.ts';
import { JsonCommand } from '../command.ts';
import { GLANCE_MS, controlIfRunning } from '../remote.ts';
import { figure, percent } from '../screen/output.ts';
import type { Colors } from '../screen/output.ts';

type Shown = ReturnType<typeof limitsJson>;

/** Share from which a window is shown as nearly used up. */
const NEARLY = 0.8;

class Limits extends JsonCommand {
  static override paths = [['limits']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'How much of each plan is used, and how long it lasts',
    details:
      'As providers state it with their answers: windows of subscriptions, and rate limits of keys. Spared are the tokens that svc left out, or answered from its own cache, since the window began. At the pace of its last two fifths (two hours of five, without breaks) it is used up at the time shown if you go on now, or lasts until it starts again. A credential of a client is named by a hash. While svc is not running, as it was when it ended.',
    examples: [['Look', '$0 limits']],
  });

  async execute() {
    let past = 'svc is not running; this is what it knew when it stopped.';
    const asked = controlIfRunning<Shown>(this.home, 'limits', undefined, GLANCE_MS);
    const running = await asked.catch((thrown: unknown) => {
      if (!isSvcError(thrown) || thrown.kind !== 'bad_gateway') throw thrown;
      past = 'svc runs, but does not answer: as far as it has written down.';
      return undefined;
    });
    const { limits } = running ?? (await this.#lastKnown());
    if (this.json) return this.printJson({ limits });
    if (running === undefined) this.note(past);
    if (limits.length === 0) return this.print('No provider has reported a limit yet.');
    const nowMs = this.context.clock.wallMs();
    this.printTable(
      ['provider', 'key', 'limit', '>used', 'starts again', 'at this pace', '>spared'],
      limits.map((limit) => this.#row(limit, nowMs)),
      { expendable: ['spared', ...(hasOneKeyEach(limits) ? ['key'] : [])] },
    );
  }

  /** Reads the file of the proxy that ran last. */
  async #lastKnown(): Promise<Shown> {
    const { planLimits } = await openPlanLimits({
      file: join(this.home, LIMITS_FILE),
      clock: this.context.clock,
      onTrouble: () => undefined,
    });
    return limitsJson(planLimits);
  }

  #row(limit: LimitJson, nowMs: number): string[] {
    const { provider, key, window, used, resets_at: resets } = limit;
    return [
      provider,
      key,
      window,
      paint(percent(used), limit, this.colors),
      resets === null ? '–' : localTime(resets, nowMs),
      runway(limit, nowMs),
      limit.kind === 'plan' ? figure(limit.spared_tokens) : '–',
    ];
  }
}

/** True if each provider has one key, so that its name identifies the key. */
function hasOneKeyEach(limits: readonly LimitJson[]): boolean {
  const pairs = new Set(limits.map(({ provider, key }) => `${provider} ${key}`));
  return pairs.size === new Set(limits.map(({ provider }) => provider)).size;
}

function paint(text: string, { used, status }: LimitJson, colors: Colors): string {
  if (used >= 1 || status === 'rejected') return colors.red(text);
  return used >= NEARLY ? colors.yellow(text) : text;
}

/** Describes how long the limit lasts. */
function runway(limit: LimitJson, nowMs: number): string {
  const { used, used_up_at: usedUp, used_per_hour: perHour } = limit;
  if (used >= 1 || limit.status === 'rejected') return 'used up';
  if (perHour === null) return '–';
  return usedUp === null ? 'lasts' : `until ${localTime(usedUp, nowMs)}`;
}

export const commands = [Limits];
