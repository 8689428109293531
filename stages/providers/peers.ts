/**
 * What proxies that share their state tell each other about providers. Each proxy decides by its
 * own memory; its changes are sent to peers, and their changes are applied to it.
 */
import type { BreakerMove } from './breaker.ts';
import type { ProviderName } from './provider.ts';

export interface Peers {
  /** The breaker of `provider` changed here. */
  breakerMoved(provider: ProviderName, move: BreakerMove): void;
  /** The cooldown of the key with this id began or ended here. */
  keyMoved(provider: ProviderName, keyId: string): void;
  /**
   * Claims the one probe of all proxies: resolves to whether it is ours. If not, the breaker has
   * been updated with the reason. Undefined without peers. Never rejects.
   */
  claimProbe(provider: ProviderName): Promise<boolean> | undefined;
}

/** A single proxy. */
export const NO_PEERS: Peers = Object.freeze({
  breakerMoved: () => undefined,
  keyMoved: () => undefined,
  claimProbe: () => undefined,
});
