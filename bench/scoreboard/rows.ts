/** All rows of the scoreboard, in display order. */
import { FAULTS } from './faults.ts';
import { PROMISES } from './promises.ts';
import type { Row } from './row.ts';
import { THREATS } from './threats.ts';

export const ROWS: readonly Row[] = [...THREATS, ...FAULTS, ...PROMISES];
