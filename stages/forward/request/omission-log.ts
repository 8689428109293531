/** Logs the parts of a request that are left out for a provider of another kind. */
import type { StageLog } from '../../services.ts';

/** Maximum number of omissions remembered; later ones are only in their traces. */
const MAX_REMEMBERED = 1000;

/** Logs what `provider` does not receive, in one line for each request with something new. */
export function createOmissionLog(
  log: Pick<StageLog, 'warning'>,
): (provider: string, notes: readonly string[]) => void {
  const logged = new Set<string>();
  return (provider, notes) => {
    const fresh = notes.filter((text) => !logged.has(`${provider} ${text}`));
    if (fresh.length === 0 || logged.size > MAX_REMEMBERED) return;
    for (const text of fresh) logged.add(`${provider} ${text}`);
    log.warning('a request is changed for a provider of another kind', {
      provider,
      changes: fresh.map((text) => text.slice(0, 256)),
    });
  };
}
