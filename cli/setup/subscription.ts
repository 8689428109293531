/**
 * The choices for the owner of a subscription. Its requests carry a token whose provider may
 * require the exact bytes of its own client, so nothing is rewritten unless the owner agrees,
 * knowing the possible consequences.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { claudeFolder } from '../../server/sessions/find.ts';
import type { LoadedConfig } from '../../server/config/load.ts';
import type { Wiring } from '../integrate/wiring.ts';
import type { CliContext } from '../context.ts';

export const SUBSCRIPTION_SETTING = 'compression.subscription_traffic';

export const SUBSCRIPTION_USES = ['look', 'rewrite'] as const;
export type SubscriptionUse = (typeof SUBSCRIPTION_USES)[number];

export const SUBSCRIPTION_QUESTION =
  'Claude Code with a subscription: what may svc do with its requests? (Those with an API key are not affected.)';

export const SUBSCRIPTION_CHOICES = [
  {
    value: 'look',
    label: 'look',
    hint: 'they are sent unchanged; svc shows cost, cache misses and how long the plan lasts',
  },
  {
    value: 'rewrite',
    label: 'rewrite',
    hint: 'they are compressed too, and the plan lasts longer; the provider can see that they are not what its client wrote, and its terms may forbid that',
  },
] as const;

/** The situation before anything is asked. */
export interface SubscriptionFound {
  /** True if Claude Code is installed and may be logged in with a subscription. */
  readonly isLikely: boolean;
  /** The configured choice; undefined if none was made. */
  readonly decided: SubscriptionUse | undefined;
}

/** Looks for signs of a subscription. Credential files are not read: their existence is enough. */
export function findSubscription(
  { config, provenance }: LoadedConfig,
  clients: readonly Wiring[],
  { env, userHome }: CliContext,
): SubscriptionFound {
  const set = provenance.get(SUBSCRIPTION_SETTING);
  const isSet = set !== undefined && set.source !== 'default';
  const hasToken = Object.values(config.providers).some(({ keys }) =>
    keys.some(({ scheme }) => scheme === 'bearer'),
  );
  const isLoggedIn = existsSync(join(claudeFolder(userHome, env), '.credentials.json'));
  const hasKey = (config.providers['messages']?.keys ?? []).length > 0;
  const hasClaude = clients.some(({ client }) => client.id === 'claude-code');
  return {
    // Without its own key Claude Code is logged in; on a Mac no file shows that.
    isLikely: hasClaude && (isLoggedIn || hasToken || !hasKey),
    decided: isSet ? toUse(config.compression.subscriptionTraffic) : undefined,
  };
}

/** The effect of each choice, among the steps of setup. */
export const SUBSCRIPTION_STEPS: Readonly<Record<SubscriptionUse, string>> = {
  look: "send a subscription's requests unchanged",
  rewrite: "compress a subscription's requests too",
};

function toUse(isRewritten: boolean): SubscriptionUse {
  return isRewritten ? 'rewrite' : 'look';
}

/** Describes the effect of the choice, and how to change it. */
export function subscriptionText(use: SubscriptionUse, configPath: string): string {
  const [now, other] =
    use === 'look' ? ['are sent unchanged', 'true'] : ['are compressed too', 'false'];
  return `A subscription's requests ${now}. To change it: ${SUBSCRIPTION_SETTING}: ${other} in ${configPath}, then \`svc config reload\`.`;
}
