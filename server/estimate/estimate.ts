/** Estimates what svc would have saved on the sessions in some folders. */
import { createConversationCompressor } from '../../stages/compress/worker/conversation-compressor.ts';
import type { Prices } from '../../stages/ledger/prices/prices.ts';
import { readFolders } from '../sessions/read-folders.ts';
import type { FoldersJob, FoldersRead } from '../sessions/read-folders.ts';
import type { Conversation } from '../sessions/session.ts';
import { estimateConversation } from './conversation.ts';
import type { EstimateSettings } from './conversation.ts';
import { createCounters } from './counters.ts';
import { createSums } from './sums.ts';
import type { SessionGroup } from './sums.ts';

export interface EstimateJob extends FoldersJob {
  readonly options: EstimateSettings;
  readonly prices: Prices;
}

export interface EstimateReport extends FoldersRead {
  readonly groups: readonly SessionGroup[];
  /** Conversations whose file also contains the system prompt and tools, and all conversations. */
  readonly whole: number;
  readonly conversations: number;
}

/** Compressed texts cached for later conversations with the same text. */
const CACHE_ENTRIES = 200;

/** Estimates all sessions. Unreadable files are listed in the report. */
export async function estimateSessions(job: EstimateJob): Promise<EstimateReport> {
  const known = {
    compressor: createConversationCompressor(CACHE_ENTRIES),
    options: job.options,
    prices: job.prices,
    nowMs: job.clock.wallMs(),
    counterFor: createCounters(),
  };
  const sums = createSums();
  let [conversations, whole] = [0, 0];
  const read = await readFolders(job, async (conversation) => {
    sums.add(conversation, await estimateConversation(conversation, known));
    conversations += 1;
    if (isWhole(conversation)) whole += 1;
  });
  return { ...read, groups: sums.groups(), conversations, whole };
}

function isWhole({ params, items }: Conversation): boolean {
  const names = ['system', 'instructions', 'systemInstruction'];
  const isItem = items.some((item) => typeof item === 'object' && item !== null && 'tools' in item);
  return (
    (params['tools'] !== undefined || isItem) && (isItem || names.some((name) => name in params))
  );
}
