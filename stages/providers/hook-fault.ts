/**
 * A fault in the code of a provider that is code. It ends its attempt as a failed provider
 * would, and says nothing of the upstream: breaker and health do not hear of it.
 */
import { SvcError, isSvcError } from '../../engine/index.ts';

/** What a hook threw or left behind, as the cause of the error that is reported. */
class HookFault extends Error {}

/** `bad_gateway` that names provider and hook. */
export function hookFault(provider: string, hook: string, why: string, thrown?: unknown): SvcError {
  return new SvcError('bad_gateway', `The ${hook} hook of provider '${provider}' failed: ${why}`, {
    cause: new HookFault(why, { cause: thrown }),
  });
}

/** True for an error made by `hookFault`. */
export function isHookFault(thrown: unknown): boolean {
  return isSvcError(thrown) && thrown.cause instanceof HookFault;
}

/** The first line of what was thrown, in 200 characters; strangers' errors may even throw when read. */
export function wordsOf(thrown: unknown): string {
  try {
    const words = thrown instanceof Error ? thrown.message : String(thrown);
    return (words.split('\n', 1)[0] ?? '').slice(0, 200);
  } catch {
    return 'a value without a message';
  }
}
