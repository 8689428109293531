/** `svc diff`: which blocks of a request the running proxy changed, and how. */
import { SvcError } from '../../engine/error.ts';
import { blockGroups } from '../../server/dashboard/page/request/block-groups.ts';
import type { LostJson } from '../../server/routes/blocks.ts';
import { runningInstance } from '../process/daemon.ts';
import type { Colors } from '../screen/output.ts';
import { readOwn } from '../remote.ts';
import type { Json } from '../remote.ts';
import { createCounter, percentSaved, sumTokens } from './counted-tokens.ts';
import type { CountedTokens } from './counted-tokens.ts';

/** A block of `/v1/svc/lost/<id>`, with exact token counts. */
export type ChangedBlock = Omit<LostJson['blocks'][number], 'tokens'> & {
  readonly tokens: CountedTokens;
};

export type ChangedRequest = Awaited<ReturnType<typeof readChanges>>;

/**
 * Returns what this home folder's proxy changed in request `id`, or in the last one that it
 * changed.
 *
 * @throws SvcError `unavailable` if none runs, `not_found` if the proxy has kept nothing of the
 * request.
 */
export async function readChanges(home: string, id: string | undefined) {
  if (runningInstance(home) === undefined) {
    throw new SvcError(
      'unavailable',
      'svc is not running, and what was removed is kept in memory',
      {
        cure: '`svc preview <file>` shows what compression does to a request, without a proxy.',
      },
    );
  }
  const response = readOwn<LostJson>(home, `/v1/svc/lost/${encodeURIComponent(id ?? 'last')}`);
  const lost = await response.catch((thrown: unknown) => ({ request_id: id, blocks: [], thrown }));
  const requestId = lost.request_id ?? 'last';
  const trace = await readOwn(home, `/trace/${requestId}`).catch((): Json => ({}));
  const groups = blockGroups(trace['stages']);
  // For an unchanged request, the reasons can still be shown.
  if ('thrown' in lost && (groups ?? []).length === 0) throw lost.thrown;
  const model = typeof trace['model'] === 'string' ? trace['model'] : null;
  const counter = await createCounter(model);
  const blocks = lost.blocks.map((block) => ({ ...block, tokens: counter.count(block) }));
  const total = sumTokens(blocks.map(({ tokens }) => tokens));
  return { requestId, model, tokenizer: counter.family, groups, blocks, total };
}

export const groupHeader = ['blocks', 'sent', 'reason'];

/** Returns one row per group of blocks that are sent unchanged. */
export const groupRows = ({ groups = [] }: ChangedRequest): string[][] =>
  groups.map(({ blocks, sent, because }) => [blocks, sent, because]);

export const changesHeader = ['>#', 'id', 'block', 'class', '>before', '>after', '>saved', 'how'];

/** Returns one row per changed block. */
export function changeRows({ blocks }: ChangedRequest, colors: Colors): string[][] {
  return blocks.map((block) => [
    isDefinition(block) ? '–' : String(block.index),
    block.id,
    describe(block),
    block.kind ?? '–',
    block.tokens.before.toLocaleString('en-US'),
    block.tokens.after.toLocaleString('en-US'),
    colors.green(percentSaved(block.tokens)),
    block.by.join(', '),
  ]);
}

/** Returns the heading of a block's section. */
export function blockTitle(block: ChangedBlock, colors: Colors): string {
  const facts = `${block.kind ?? 'text'}, ${block.by.join(', ')}, original under /v1/svc/blocks/${block.id}`;
  const place = isDefinition(block) ? '' : `block ${block.index}: `;
  return `${colors.bold(`${place}${describe(block)}`)} ${colors.dim(`(${facts})`)}`;
}

/** Tool definitions come before all blocks. */
const isDefinition = ({ index }: ChangedBlock): boolean => index < 0;

function describe(block: ChangedBlock): string {
  if (block.tool === null) return 'pasted text';
  return `${isDefinition(block) ? 'definition' : 'result'} of ${block.tool}`;
}
