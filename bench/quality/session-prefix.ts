/**
 * Measures whether each request of a real session, as it would be sent, begins like the one before:
 * every turn is compressed without prior state, as after a restart, using only the durable record
 * of the conversation.
 */
import { systemClock } from '../../engine/clock.ts';
import { coldMoments } from '../../server/estimate/cold-moments.ts';
import type { EstimateSettings } from '../../server/estimate/conversation.ts';
import { replayConversation } from '../../server/estimate/replay-conversation.ts';
import { readFolders } from '../../server/sessions/read-folders.ts';
import { createCodeTools } from '../../stages/compress/rules/code/code-tools.ts';
import { createConversationCompressor } from '../../stages/compress/worker/conversation-compressor.ts';

/** Turns of all sessions of a folder. */
export interface PrefixTurns {
  readonly turns: number;
  /** Turns at which the provider's cache had expired, so that the prefix may change. */
  readonly cold: number;
  /** Other turns in which an earlier block was sent with other bytes than before. */
  readonly unstable: number;
}

export async function measurePrefixes(
  folder: string,
  { coldTrimMs = null, ...settings }: EstimateSettings,
): Promise<PrefixTurns> {
  const counts = { turns: 0, cold: 0, unstable: 0 };
  const compressor = createConversationCompressor(0, createCodeTools());
  await readFolders(
    { folders: [folder], clock: systemClock, maxTimeMs: Infinity },
    async (conversation) => {
      const cold = coldTrimMs === null ? new Set() : coldMoments(conversation, coldTrimMs);
      const play = replayConversation(conversation, compressor, settings);
      let before: readonly string[] = [];
      for (const request of conversation.requests) {
        const isCold = cold.has(request) && !play.isBound(request.items);
        const sent = (await play.send(request.items, isCold)).map((one) => one.sent);
        counts.turns += 1;
        if (isCold) counts.cold += 1;
        else if (before.some((text, at) => text !== sent[at])) counts.unstable += 1;
        before = sent;
      }
    },
  );
  return counts;
}
