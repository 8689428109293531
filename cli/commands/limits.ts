/**
 * `svc limits`: how much of each credential's plan and rate limits is used, and how long the rest
 * lasts.
 */
import { join } from 'node:path';
import { Command } from 'clipanion';
import { SvcError, isSvcError } from '../../engine/error.ts';
import { localTime } from '../../server/dashboard/page/local-time.ts';
import { limitsJson } from '../../server/facts/limits.ts';
import type { LimitJson } from '../../server/facts/limits.ts';
import { reasonOf } from '../../stages/disk-reason.ts';
import { LIMITS_FILE, readPlanLimits } from '../../stages/limits/limits-file.ts';
import { JsonCommand } from '../command.ts';
import { OPTIONAL_MS, controlIfRunning } from '../remote.ts';
import { figure, percent } from '../screen/output.ts';
import type { Colors } from '../screen/output.ts';

type Shown = ReturnType<typeof limitsJson>;

/** Share from which a window is shown as nearly used up. */
const NEARLY_USED_UP = 0.8;

class Limits extends JsonCommand {
  static override paths = [['limits']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'How much of each plan is used, and how long it lasts',
    details:
      'What providers report with their answers: windows of subscriptions, and rate limits of keys. Spared: tokens that svc left out, or answered from its own cache, since the window began. "At this pace" is when the window will be used up at the pace of its last two fifths (two hours of five, without breaks) if you continue now, or that it lasts until its reset. A credential of a client is named by a hash. While svc is not running, the figures are those of when it stopped.',
    examples: [['Look', '$0 limits']],
  });

  async execute() {
    let notRunningNote = 'svc is not running; this is what it knew when it stopped.';
    const reply = controlIfRunning<Shown>(this.home, 'limits', undefined, OPTIONAL_MS);
    const running = await reply.catch((thrown: unknown) => {
      if (!isSvcError(thrown) || thrown.kind !== 'bad_gateway') throw thrown;
      notRunningNote = 'svc is running but does not answer; this is what it last wrote to disk.';
      return undefined;
    });
    const { limits } = running ?? (await this.#lastKnown());
    if (this.json) return this.printJson({ limits });
    if (running === undefined) this.note(notRunningNote);
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
    const file = join(this.home, LIMITS_FILE);
    try {
      return limitsJson(await readPlanLimits({ file, clock: this.context.clock }));
    } catch (cause) {
      throw new SvcError('config', `${file} cannot be read: ${reasonOf(cause)}`, {
        cause,
        cure: 'The next `svc serve` moves it aside and begins a new one',
      });
    }
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
  return used >= NEARLY_USED_UP ? colors.yellow(text) : text;
}

/** Describes how long the limit lasts. */
function runway(limit: LimitJson, nowMs: number): string {
  const { used, used_up_at: usedUp, used_per_hour: perHour } = limit;
  if (used >= 1 || limit.status === 'rejected') return 'used up';
  if (perHour === null) return '–';
  return usedUp === null ? 'lasts' : `until ${localTime(usedUp, nowMs)}`;
}

export const commands = [Limits];
