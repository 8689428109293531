/** Every growth table, in one run. */
import { startRig } from '../arms.ts';
import type { Verdict } from '../bars.ts';
import { growthOfBodies, growthOfStreams, growthOfTurns } from './loads.ts';
import { growthOfRows } from './rows.ts';
import { judgeGrowth } from './table.ts';
import type { GrowthTable } from './table.ts';

/** How to measure. */
export interface GrowthOptions {
  readonly rounds: number;
  /** Rows of the largest ledger. */
  readonly rows: number;
  readonly onProgress: (text: string) => void;
  /** Called with each table as soon as there is one. */
  readonly onTable: (table: GrowthTable) => void;
}

/** Measures all tables; resolves with their verdicts. */
export async function measureGrowth(options: GrowthOptions): Promise<readonly Verdict[]> {
  const { rounds, rows, onProgress, onTable } = options;
  const verdicts: Verdict[] = [];
  const addTable = (table: GrowthTable): void => {
    verdicts.push(judgeGrowth(table));
    onTable(table);
  };
  const rig = await startRig(['direct', 'svc']);
  try {
    onProgress('streams');
    addTable(await growthOfStreams(rig, rounds));
    onProgress('bodies');
    (await growthOfBodies(rig, rounds)).forEach(addTable);
    onProgress('turns');
    addTable(await growthOfTurns(rig, rounds));
    const [direct] = rig.arms;
    (await growthOfRows(direct!.port, rig.load, rows, rounds, onProgress)).forEach(addTable);
  } finally {
    await rig.close();
  }
  return verdicts;
}
