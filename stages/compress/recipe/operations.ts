/** All operations of recipes, by the names that recipes use. */
import type { Operation } from './operation.ts';
import { foldOperations } from './operations/fold.ts';
import { layoutOperations } from './operations/layout.ts';
import { selectOperations } from './operations/select.ts';

export const OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>(
  Object.entries({ ...selectOperations, ...foldOperations, ...layoutOperations }),
);
