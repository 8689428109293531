/** Providers that accept a prompt cache key in the request. */

/**
 * Returns true for the provider that documents `prompt_cache_key`, at any of its regional hosts.
 */
export function takesPromptCacheKey(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === 'https:' && /^(?:[a-z]{2}\.)?api\.openai\.com$/.test(hostname);
}
