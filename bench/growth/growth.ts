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
  readonly onFound: (table: GrowthTable) => void;
}

/** Measures all tables; resolves with their verdicts. */
export async function measureGrowth(options: GrowthOptions): Promise<readonly Verdict[]> {
  const { rounds, rows, onProgress, onFound } = options;
  const verdicts: Verdict[] = [];
  const found = (table: GrowthTable): void => {
    verdicts.push(judgeGrowth(table));
    onFound(table);
  };
  const rig = await startRig(['direct', 'svc']);
  try {
    onProgress('streams');
    found(await growthOfStreams(rig, rounds));
    onProgress('bodies');
    (await growthOfBodies(rig, rounds)).forEach(found);
    onProgress('turns');
    found(await growthOfTurns(rig, rounds));
    const [direct] = rig.arms;
    (await growthOfRows(direct!.port, rig.load, rows, rounds, onProgress)).forEach(found);
  } finally {
    await rig.close();
  }
  return verdicts;
}
