/** `svc demo`: plays a scripted coding session through the real proxy, without key or network. */
import { Command } from 'clipanion';
import { JsonCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import { laneTable } from '../screen/lanes.ts';
import { demoJson, demoLines, demoTable, stageTable } from '../screen/demo-report.ts';
import type { PlayedTurn } from '../screen/demo-report.ts';
import { withLoopback } from '../process/loopback.ts';
import type { Loopback } from '../process/loopback.ts';
import { counted } from '../screen/output.ts';
import { readJson } from '../remote.ts';
import type { Json } from '../remote.ts';

class Demo extends JsonCommand {
  static override paths = [['demo']];
  static override usage = Command.Usage({
    category: 'Try',
    description: 'Play a coding session; needs no key and no network',
    details:
      'A built-in provider answers on this machine. Ports are free ones and the home folder is a temporary one, so nothing of yours is touched.',
    examples: [
      ['Watch it work', '$0 demo'],
      ['The figures for a program', '$0 demo --json'],
    ],
  });

  async execute() {
    await withLoopback(this.context, {}, async (loopback) => this.play(loopback));
  }

  private async play({ session, url, play }: Loopback): Promise<void> {
    if (!this.json) this.note(`Playing ${session.turns.length} turns of a coding session…`);
    const played: PlayedTurn[] = [];
    for (const turn of session.turns) played.push(await play(turn));
    const lanes = ((await readJson(url, '/savings'))['lanes'] ?? {}) as Json;
    if (this.json) this.printJson(demoJson(session.model, played, lanes));
    else this.show(session, played, lanes);
    const failed = played.filter(({ row }) => row['outcome'] !== 'ok').length;
    if (failed > 0)
      throw new SvcError('internal', `${counted(failed, 'request')} of the demo did not succeed`);
  }

  private show(session: Loopback['session'], played: readonly PlayedTurn[], lanes: Json): void {
    for (const { header, rows } of [demoTable(played), stageTable(played), laneTable(lanes)]) {
      this.print();
      this.printTable(header, rows);
    }
    for (const line of demoLines(session.model, played, this.colors, this.context.program))
      this.print(line);
  }
}

export const commands = [Demo];
