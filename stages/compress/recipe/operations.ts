/** All recipe operations, by the names that recipes use. */
import type { Operation } from './operation.ts';
import { arrangeOperations } from './operations/arrange.ts';
import { foldOperations } from './operations/fold.ts';
import { jsonOperations } from './operations/json.ts';
import { layoutOperations } from './operations/layout.ts';
import { lineOperations } from './operations/lines.ts';
import { selectOperations } from './operations/select.ts';

export const OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>(
  Object.entries({
    ...selectOperations,
    ...foldOperations,
    ...layoutOperations,
    ...lineOperations,
    ...arrangeOperations,
    ...jsonOperations,
  }),
);
