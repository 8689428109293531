/** The lanes of savings as table rows: what each is worth, and how. */
import { laneRows } from '../../server/dashboard/page/summary.ts';
import type { LaneFigures } from '../../server/dashboard/page/summary.ts';
import type { Json } from '../remote.ts';

/** Returns one row per lane, from the `lanes` of `/savings`. A lane without figures has dashes. */
export function laneTable(lanes: Json) {
  const rows = laneRows(lanes as LaneFigures).map(({ name, worth, detail }) => [
    name,
    worth,
    detail,
  ]);
  return { header: ['saved by', '>worth', ''], rows };
}
