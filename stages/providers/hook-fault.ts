/**
 * A fault in the code of a provider that is code. It ends its attempt as a failed provider would,
 * and says nothing about the upstream: breaker and health are not affected.
 */
import { SvcError, isSvcError } from '../../engine/index.ts';
import { providerNode } from './provider-node.ts';

/** What a hook threw or returned, as the cause of the reported error. */
class HookFault extends Error {}

/** `bad_gateway` that names provider and hook; the provider's node is the one that failed. */
export function hookFault(provider: string, hook: string, why: string, thrown?: unknown): SvcError {
  const message = `The ${hook} hook of provider '${provider}' failed: ${why}`;
  const cause = new HookFault(why, { cause: thrown });
  const error = new SvcError('bad_gateway', message, { cause });
  error.node = providerNode(provider);
  return error;
}

/** Returns true for an error made by `hookFault`. */
export function isHookFault(thrown: unknown): boolean {
  return isSvcError(thrown) && thrown.cause instanceof HookFault;
}

/**
 * Returns the first line of what was thrown, cut to 200 characters; foreign errors may even throw
 * when read.
 */
export function firstLineOf(thrown: unknown): string {
  try {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return (message.split('\n', 1)[0] ?? '').slice(0, 200);
  } catch {
    return 'a value without a message';
  }
}
