/** `svc demo`: a recorded kind of coding session through the real proxy, without key or network. */
import { Command, Option } from 'clipanion';
import { SvcError } from '../../engine/error.ts';
import type { CliCommand, CliContext } from '../context.ts';
import { laneTable } from '../screen/lanes.ts';
import { demoJson, demoLines, demoTable, stageTable } from '../screen/demo-report.ts';
import type { PlayedTurn } from '../screen/demo-report.ts';
import { withLoopback } from '../process/loopback.ts';
import type { Loopback } from '../process/loopback.ts';
import { colorsFor, counted, note, print, printJson } from '../screen/output.ts';
import { readJson } from '../remote.ts';
import type { Json } from '../remote.ts';
import { printTable } from '../screen/table.ts';

class Demo extends Command<CliContext> {
  static override paths = [['demo']];
  static override usage = Command.Usage({
    category: 'Try',
    description: 'Play a coding session through the real proxy; needs no key and no network',
    details:
      'A built-in provider answers on this machine. Ports are free ones and the home folder is a temporary one, so nothing of yours is touched.',
    examples: [
      ['Watch it work', '$0 demo'],
      ['The figures for a program', '$0 demo --json'],
    ],
  });

  json = Option.Boolean('--json,--raw', false, { description: 'As JSON' });

  async execute() {
    const { context } = this;
    await withLoopback(context, {}, async (loopback) => this.play(loopback));
  }

  private async play({ session, url, play }: Loopback): Promise<void> {
    const { context } = this;
    if (!this.json) note(context, `Playing ${session.turns.length} turns of a coding session…`);
    const played: PlayedTurn[] = [];
    for (const turn of session.turns) played.push(await play(turn));
    const lanes = ((await readJson(url, '/savings'))['lanes'] ?? {}) as Json;
    if (this.json) printJson(context, demoJson(session.model, played, lanes));
    else this.show(session, played, lanes);
    const failed = played.filter(({ row }) => row['outcome'] !== 'ok').length;
    if (failed > 0)
      throw new SvcError('internal', `${counted(failed, 'request')} of the demo did not succeed`);
  }

  private show(session: Loopback['session'], played: readonly PlayedTurn[], lanes: Json): void {
    const { context } = this;
    for (const { header, rows } of [demoTable(played), stageTable(played), laneTable(lanes)]) {
      print(context);
      printTable(context, header, rows);
    }
    const colors = colorsFor(context.stdout, context.env);
    for (const line of demoLines(session.model, played, colors, context.program))
      print(context, line);
  }
}

export const commands: readonly CliCommand[] = [Demo];
