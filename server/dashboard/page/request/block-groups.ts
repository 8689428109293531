/**
 * How the blocks of a request were sent and why, taken from its trace; for the page and for `svc
 * diff`.
 */
import type { Column } from '../requests/columns.ts';

export interface BlockGroup {
  /** Block indexes, as in `0–3, 7`. */
  readonly blocks: string;
  readonly sent: string;
  readonly because: string;
}

/** Shown for a conversation without thinking blocks. */
export const NOTHING_HELD =
  'No thinking block is signed over this conversation: no part of it has to be sent unchanged.';

export const GROUP_COLUMNS: readonly Column<BlockGroup>[] = [
  { header: 'Blocks', rank: 0, minWidth: 8, text: ({ blocks }) => blocks },
  { header: 'Go out', rank: 1, text: ({ sent }) => sent },
  { header: 'Because', rank: 2, minWidth: 20, text: ({ because }) => because },
];

/**
 * Returns the groups in the `stages` of a trace; none if no thinking block is signed over the
 * conversation. Undefined if that is unknown: its stages are no longer kept, or no provider was
 * called.
 */
export function blockGroups(stages: unknown): readonly BlockGroup[] | undefined {
  const list: readonly unknown[] = Array.isArray(stages) ? stages : [];
  const forward = list.find((stage) => isRecord(stage) && stage['node'] === 'forward');
  if (!isRecord(forward)) return undefined;
  const groups = forward['block_groups'];
  return Array.isArray(groups) ? groups.filter(isGroup) : [];
}

function isGroup(value: unknown): value is BlockGroup {
  return (
    isRecord(value) &&
    [value['blocks'], value['sent'], value['because']].every((text) => typeof text === 'string')
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
