/** All rows of the scoreboard, in display order. */
import { CERTIFICATE } from './certificate.ts';
import { FAULTS } from './faults.ts';
import { FURTHER_FAULTS } from './faults-further.ts';
import { PROMISES } from './promises.ts';
import type { Row } from './row.ts';
import { THREATS } from './threats.ts';
import { FURTHER_THREATS } from './threats-further.ts';

export const ROWS: readonly Row[] = [
  ...THREATS,
  ...FURTHER_THREATS,
  ...FAULTS,
  ...FURTHER_FAULTS,
  ...PROMISES,
  ...CERTIFICATE,
];
