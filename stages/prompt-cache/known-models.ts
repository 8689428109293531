/**
 * Which models keep a prompt cache that requests have to mark, and from which length on. Facts of
 * Anthropic's documentation on prompt caching, read in November 2026; they change with models.
 */

const CLAUDE_NAMED = /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/;
/** Names of the third generation have the version first. */
const CLAUDE_NUMBERED = /claude-(\d)(?:[-.](\d))?-([a-z]+)/;

/** The largest minimum that there is, in tokens. */
export const LARGEST_MINIMUM = 4096;

interface Claude {
  readonly family: string;
  /** 4.5 for `4-5`. */
  readonly version: number;
}

/**
 * The tokens from which a prefix that is marked with `cache_control` is cached, or undefined for a
 * model that is not known to read the marker. Takes the names of other sellers of the same models,
 * such as `anthropic/claude-sonnet-4.5`.
 */
export function leastCachedTokens(model: string): number | undefined {
  const claude = claudeOf(model);
  if (claude === undefined || claude.version < 3) return undefined;
  const { family, version } = claude;
  if (family === 'haiku') return version < 4 ? 2048 : LARGEST_MINIMUM;
  if (family === 'opus') return version >= 4.5 && version !== 4.8 ? LARGEST_MINIMUM : 1024;
  return family === 'sonnet' ? 1024 : LARGEST_MINIMUM;
}

function claudeOf(model: string): Claude | undefined {
  const named = CLAUDE_NAMED.exec(model);
  if (named !== null) return { family: named[1]!, version: versionOf(named[2]!, named[3]) };
  const numbered = CLAUDE_NUMBERED.exec(model);
  if (numbered === null) return undefined;
  return { family: numbered[3]!, version: versionOf(numbered[1]!, numbered[2]) };
}

function versionOf(major: string, minor: string | undefined): number {
  return Number(major) + Number(minor ?? 0) / 10;
}

/** True of the provider that documents `prompt_cache_key`, at any of its regional addresses. */
export function takesPromptCacheKey(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === 'https:' && /^(?:[a-z]{2}\.)?api\.openai\.com$/.test(hostname);
}
