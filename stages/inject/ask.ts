/**
 * Queries the vault for a question, within a time limit, and builds the injection from the hits.
 */
import type { StageContext } from '../../engine/index.ts';
import type { Services } from '../services.ts';
import type { BlockSource } from '../vault/block.ts';
import type { SearchHit } from '../vault/search/search.ts';
import type { InjectConfig } from './settings.ts';
import type { VaultInTime } from './vault-timeout.ts';
import { toInjection } from './injection.ts';
import type { Injection, Part } from './injection.ts';

/** Larger blocks exceed any budget even after compression. */
const MAX_CAPSULE_CHARS = 64 * 1024;
const CAPSULE_MS = 1000;
/** Soft length of a chunk of prose, in characters, that is kept or dropped whole. */
const CAPSULE_SENTENCE_CHARS = 120;

/** What the rest of the request leaves room for. */
export interface Room {
  /** Ids of blocks that earlier messages of the conversation already contain. */
  readonly present: ReadonlySet<string>;
  readonly budgetTokens: number;
}

/** The vault's result, or why it could not be queried. */
export type VaultResult =
  | { readonly injection: Injection | undefined }
  | { readonly notBecause: string };

const NOT_READY = 'the vault is not ready yet';

/** Queries the vault. Never rejects. */
export async function askVault(
  vault: VaultInTime,
  query: string,
  room: Room,
  config: InjectConfig,
  services: Services,
  ctx: StageContext,
): Promise<VaultResult> {
  try {
    const { topK: top, minScore } = config;
    const wanted = { top, minScore, about: true, distinct: true, except: room.present };
    const hits = await vault.ask((opened) => opened.search(query, wanted));
    if (hits === undefined) return { notBecause: NOT_READY };
    const parts: Part[] = [];
    for (const hit of hits) {
      const content = await capsuleOf(hit, query, config, services, ctx);
      const { id, root, sourcePath } = hit;
      parts.push({ block: { id, root, sourcePath }, location: locationOf(hit), content });
    }
    return { injection: toInjection(parts, room.budgetTokens) };
  } catch (thrown) {
    return failureNote(thrown, services);
  }
}

/** Ids of blocks that must not be sent again, or why the vault could not be queried. */
export type Withdrawn = { readonly ids: ReadonlySet<string> } | { readonly notBecause: string };

/**
 * Returns those of `blocks` that the vault has withdrawn since they were added. If it does not
 * answer in time, the next request asks again. Never rejects.
 */
export async function findWithdrawn(
  vault: VaultInTime,
  blocks: readonly BlockSource[],
  services: Services,
): Promise<Withdrawn> {
  if (blocks.length === 0) return { ids: new Set() };
  try {
    const ids = await vault.ask((opened) => opened.withdrawn(blocks));
    return ids === undefined ? { notBecause: NOT_READY } : { ids: new Set(ids) };
  } catch (thrown) {
    return failureNote(thrown, services);
  }
}

function failureNote(thrown: unknown, { log }: Services): { readonly notBecause: string } {
  const reason = thrown instanceof Error ? thrown.message : 'unknown';
  log.warning('the vault could not be asked', { reason });
  return { notBecause: reason };
}

/** Returns `path:10-42`, or the path alone for a text without line numbers. */
function locationOf(hit: SearchHit): string {
  const path = hit.sourcePath === '' ? hit.id : hit.sourcePath;
  return hit.startLine > 0 ? `${path}:${hit.startLine}-${hit.endLine}` : path;
}

/** Returns the block compressed as a file read would be; unchanged if that is not smaller. */
async function capsuleOf(
  { content, sourcePath }: SearchHit,
  query: string,
  config: InjectConfig,
  services: Services,
  ctx: StageContext,
): Promise<string> {
  const { length } = content;
  if (!config.capsules || length < config.capsuleMinChars || length > MAX_CAPSULE_CHARS) {
    return content;
  }
  const result = await services.compressor.run(
    {
      blocks: [
        { index: 0, role: 'user', kind: 'user_text', text: query },
        {
          index: 1,
          role: 'tool',
          kind: 'tool_result',
          text: content,
          toolName: 'read',
          toolInput: { path: sourcePath },
        },
      ],
      options: {
        mode: 'hybrid',
        maxChars: CAPSULE_SENTENCE_CHARS,
        thresholdTokens: 0,
        logBudgetTokens: config.budgetTokens,
        foldsProse: true,
      },
    },
    CAPSULE_MS,
    ctx.run.signal,
  );
  const smaller = 'outcomes' in result ? result.outcomes[1]?.text : undefined;
  return smaller !== undefined && smaller.length < length ? smaller : content;
}
