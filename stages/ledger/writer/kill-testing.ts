/**
 * A process made to be killed: writes ledger rows under load until it dies, and keeps a history of
 * its intended writes. The history is written synchronously, so a `SIGKILL` cannot lose any of it.
 *
 * Usage: node kill-testing.js <ledger> <history> <first id>
 */
import { openSync, writeSync } from 'node:fs';
import { systemClock } from '../../../engine/index.ts';
import { ledgerRow } from '../row.ts';
import { ThreadedWriter } from './threaded-writer.ts';

/**
 * Rows per turn of the event loop; some 2,000 to 3,000 per second in all, far above what one
 * machine's agents send.
 */
const ROWS_A_TURN = 7;

/**
 * Records without end. Each line of the history is `<id> <wall ms at which record() was called>`.
 */
async function writeUntilKilled(file: string, history: string, firstId: number): Promise<void> {
  const log = openSync(history, 'a');
  const writer = new ThreadedWriter({
    db: file,
    clock: systemClock,
    onProblem: (error) => writeSync(log, `problem ${error.message}\n`),
  });
  await writer.ready();
  for (let id = firstId; ;) {
    for (let n = 0; n < ROWS_A_TURN; n += 1, id += 1) {
      writeSync(log, `${id} ${Date.now()}\n`);
      writer.record(
        ledgerRow({
          id: `req_${id}`,
          startedMs: id,
          endpoint: '/v1/messages',
          outcome: 'ok',
          inputTokensRaw: id * 3,
        }),
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const [, , file, history, firstId] = process.argv;
if (file !== undefined && history !== undefined) {
  await writeUntilKilled(file, history, Number(firstId));
}
