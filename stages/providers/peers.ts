/**
 * What proxies that share their state hear of each other's providers. Each proxy decides by what
 * it holds in memory; peers hear what changes in it, and change it in turn.
 */
import type { BreakerMove } from './breaker.ts';
import type { ProviderName } from './provider.ts';

export interface Peers {
  /** The breaker of `provider` moved here. */
  breakerMoved(provider: ProviderName, move: BreakerMove): void;
  /** The key of this id began or ended a rest here. */
  keyMoved(provider: ProviderName, keyId: string): void;
  /**
   * Asks for the one probe of all proxies: whether it is ours. If not, the breaker has been told
   * why. Undefined where nobody has to be asked. Never rejects.
   */
  claimProbe(provider: ProviderName): Promise<boolean> | undefined;
}

/** One proxy alone. */
export const NO_PEERS: Peers = Object.freeze({
  breakerMoved: () => undefined,
  keyMoved: () => undefined,
  claimProbe: () => undefined,
});
