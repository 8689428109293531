/** Which providers cache a prompt by a key in the request. */

/** True of the provider that documents `prompt_cache_key`, at any of its regional addresses. */
export function takesPromptCacheKey(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === 'https:' && /^(?:[a-z]{2}\.)?api\.openai\.com$/.test(hostname);
}
