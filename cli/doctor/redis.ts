/** Checks the Redis that proxies share, in the way a start would. */
import { ok, warning } from './finding.ts';
import type { Examined, Found } from './finding.ts';

const TIMEOUT_MS = 2000;
const SILENT = { info: () => undefined, warning: () => undefined, error: () => undefined };

/** Connects, and tries to write one key that expires after a second. */
export async function checkRedis({ context, loaded }: Examined): Promise<Found> {
  const url = loaded?.config.shared.redisUrl ?? null;
  if (url === null) return [];
  const { connectLink } = await import('../../server/shared/open-shared.ts');
  const link = await connectLink(url, SILENT, context.clock);
  await link.settled(TIMEOUT_MS);
  const { state, place, reason } = link.view();
  link.close();
  if (state === 'up') return ok('Redis', `${place} answers, and may be written to`);
  return warning(
    'Redis',
    `${place} cannot be used: ${reason}`,
    'Until then each proxy has its own limits, cooldowns, breakers and cached answers: see `svc help redis`.',
  );
}
