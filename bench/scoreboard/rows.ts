/** Every row of the scoreboard, in the order in which it is shown. */
import { FAULTS } from './faults.ts';
import { PROMISES } from './promises.ts';
import type { Row } from './row.ts';
import { THREATS } from './threats.ts';

export const ROWS: readonly Row[] = [...THREATS, ...FAULTS, ...PROMISES];
