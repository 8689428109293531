/**
 * What is known about models besides their prices: one table, with a source and a date for each
 * row. All code that depends on a fact about a model reads it here, so that a new model is one new
 * row. The names under which other companies sell the same model are understood too
 * (`anthropic/claude-sonnet-4.5`).
 */

/** How long providers keep a cached prompt after its last use, in milliseconds. */
export const CACHE_LIFETIMES_MS = {
  /**
   * A `cache_control` marker by default [platform.claude.com, prompt-caching, 2026-11]; OpenAI's
   * minimum for GPT before 5.6.
   */
  '5m': 300_000,
  /**
   * `prompt_cache_options.ttl`, the default of GPT-5.6 and later [developers.openai.com,
   * prompt-caching, 2026-11].
   */
  '30m': 1_800_000,
  /** A marker with `ttl: 1h` [platform.claude.com]; OpenAI's maximum at quiet times. */
  '1h': 3_600_000,
  /** `prompt_cache_options.ttl: 12h` [openai 7.57, types, 2026-11]. */
  '12h': 43_200_000,
  /** `prompt_cache_retention: 24h` [developers.openai.com, prompt-caching, 2026-11]. */
  '24h': 86_400_000,
} as const;

export type CacheLifetime = keyof typeof CACHE_LIFETIMES_MS;

/**
 * What the provider binds a model's thinking to: a changed prefix, or another account, makes it
 * unreadable.
 */
export type ThinkingBinding = 'none' | 'prefix' | 'account';

export interface ModelFacts {
  /**
   * Minimum tokens of a cached prefix; undefined if the model is not known to have a prompt cache.
   */
  readonly minCachedTokens: number | undefined;
  /** True if only prefixes with a `cache_control` marker are cached. */
  readonly isMarked: boolean;
  /** Price of cached input, as a fraction of the price of plain input. */
  readonly readPrice: number;
  /** How long a cached prefix is kept if the request does not say. */
  readonly lifetime: CacheLifetime;
  readonly thinking: ThinkingBinding;
  /** Maximum output tokens of the model. */
  readonly maxOutputTokens: number;
  /** The source of the row, and when it was read. */
  readonly source: string;
}

/** Claude models of a family from a version on, up to the next row of that family. */
type Claude = readonly [family: string, since: number];

/** A display name, and a pattern for the model's name. */
type Named = readonly [name: string, pattern: RegExp];

type Row<Model = Claude | Named> = readonly [
  model: Model,
  minCachedTokens: number | undefined,
  readPrice: number,
  thinking: ThinkingBinding,
  maxOutputTokens: number,
  source: string,
];

/** The largest cache minimum of any model, in tokens. */
export const LARGEST_MINIMUM = 4096;
/** The maximum of any model of 2026. */
const MAX_KNOWN = 128_000;

const PAGES =
  'platform.claude.com: pricing, models; prompt-caching as other pages quote it, 2026-11-26';
const BOUND = 'platform.claude.com: preserved-thinking, pricing, models, 2026-11-26';
const GUESSED = `${BOUND}; least cached length from memory: that of the model before`;
const HAIKU = `${BOUND}; least cached length as apidog.com compares it with Haiku 4.5, 2026-10`;
const OLD = 'platform.claude.com, prompt-caching, legacy models, 2026-11';

/** Each family in order of versions. */
const CLAUDE: readonly Row<Claude>[] = [
  [['fable', 0], 512, 0.1, 'none', MAX_KNOWN, PAGES],
  [['fable', 5.1], 512, 0.025, 'prefix', MAX_KNOWN, GUESSED],
  [['mythos', 0], 512, 0.1, 'none', MAX_KNOWN, PAGES],
  [['mythos', 5.1], 512, 0.025, 'prefix', MAX_KNOWN, GUESSED],
  [['opus', 3], 1024, 0.1, 'none', 4096, OLD],
  [['opus', 4], 1024, 0.1, 'none', 32_000, PAGES],
  [['opus', 4.5], 4096, 0.1, 'none', 64_000, PAGES],
  [['opus', 4.6], 4096, 0.1, 'none', MAX_KNOWN, PAGES],
  [['opus', 4.7], 2048, 0.1, 'none', MAX_KNOWN, PAGES],
  [['opus', 4.8], 1024, 0.1, 'none', MAX_KNOWN, PAGES],
  [['opus', 5], 512, 0.1, 'none', MAX_KNOWN, PAGES],
  [['opus', 5.5], 512, 0.05, 'prefix', MAX_KNOWN, GUESSED],
  [['sonnet', 3], 1024, 0.1, 'none', 4096, OLD],
  [['sonnet', 3.5], 1024, 0.1, 'none', 8192, OLD],
  [['sonnet', 3.7], 1024, 0.1, 'none', 64_000, OLD],
  [['sonnet', 4], 1024, 0.1, 'none', 64_000, PAGES],
  [['sonnet', 4.6], 1024, 0.1, 'none', MAX_KNOWN, PAGES],
  [['sonnet', 5], 1024, 0.1, 'none', MAX_KNOWN, PAGES],
  [['sonnet', 5.5], 1024, 0.05, 'account', MAX_KNOWN, GUESSED],
  [['haiku', 3], 2048, 0.1, 'none', 4096, OLD],
  [['haiku', 3.5], 2048, 0.1, 'none', 8192, OLD],
  [['haiku', 4], 4096, 0.1, 'none', 64_000, PAGES],
  [['haiku', 5.5], 512, 0.1, 'account', MAX_KNOWN, HAIKU],
];

const UNKNOWN_CLAUDE: Row = [
  ['Claude of another family', /claude/],
  LARGEST_MINIMUM,
  0.1,
  'none',
  MAX_KNOWN,
  'none: a Claude model of no known family, with the largest minimum of the others',
];

/** GPT models that keep their cache for half an hour by default. */
const HALF_HOUR = /gpt-(?:5\.[6-9]|[6-9])/;
/** The ones among them whose cache reads cost half as much. */
const CHEAP_READS = /gpt-6[.-][12]/;

const GPT = 'developers.openai.com, prompt-caching, models, 2026-11-26';
const GEMINI = 'ai.google.dev, caching, models; from memory, 2026-11';

/** The first match counts. */
const OTHERS: readonly Row<Named>[] = [
  [['Claude 2, Instant', /claude-(?:2|instant)/], undefined, 1, 'none', 4096, 'memory, 2026-11'],
  [
    ['GPT-3.5, GPT-4 Turbo', /gpt-3\.5|gpt-4-turbo|gpt-4-\d{4}-(?:preview|vision)/],
    undefined,
    1,
    'none',
    4096,
    GPT,
  ],
  [['GPT-4', /gpt-4(?:-0|-32k|$)/], undefined, 1, 'none', 8192, GPT],
  [['GPT-4o', /gpt-4o|chatgpt-4o/], 1024, 0.5, 'none', 16_384, GPT],
  [['GPT-4.1', /gpt-4\.1/], 1024, 0.25, 'none', 32_768, GPT],
  [['o1', /(?:^|\/)o1(?:-|$)/], 1024, 0.5, 'none', 100_000, GPT],
  [['o3, o4-mini', /(?:^|\/)o[34](?:-|$)/], 1024, 0.25, 'none', 100_000, GPT],
  [
    ['GPT-6.1, 6.2', CHEAP_READS],
    1024,
    0.05,
    'account',
    MAX_KNOWN,
    'developers.openai.com, models/gpt-6.2-sol, 2026-11-26; bound reasoning by openai 7.57, types',
  ],
  [
    ['GPT-5.6 and later', HALF_HOUR],
    1024,
    0.1,
    'account',
    MAX_KNOWN,
    `${GPT}; bound reasoning by openai 7.57, types`,
  ],
  [['GPT-5 up to 5.5', /gpt-5/], 1024, 0.1, 'none', MAX_KNOWN, GPT],
  [['Gemini 1, 2.0', /gemini-(?:1|2\.0)/], 4096, 0.25, 'none', 8192, GEMINI],
  [['Gemini 2.5 and later', /gemini/], 1024, 0.1, 'none', 65_536, GEMINI],
];

const NOTHING: ModelFacts = Object.freeze({
  minCachedTokens: undefined,
  isMarked: false,
  readPrice: 1,
  lifetime: '5m',
  thinking: 'none',
  maxOutputTokens: MAX_KNOWN,
  source: 'none: no row has this model',
});

/** The facts of every row; they are read several times per request. */
const CLAUDE_FACTS = CLAUDE.map((row) => [row[0], toFacts(row, true, '5m')] as const);
const OTHER_FACTS = OTHERS.map(
  (row) => [row[0], toFacts(row, false, defaultLifetime(row))] as const,
);
const UNKNOWN_CLAUDE_FACTS = toFacts(UNKNOWN_CLAUDE, true, '5m');

/**
 * Returns what is known about a model by its name; safe assumptions for an unknown or missing name.
 */
export function factsOf(model = ''): ModelFacts {
  const name = model.toLowerCase();
  const claude = claudeOf(name);
  if (claude !== undefined && claude.version >= 3) {
    const { family, version } = claude;
    const known = CLAUDE_FACTS.findLast(([[named, since]]) => named === family && since <= version);
    return known?.[1] ?? UNKNOWN_CLAUDE_FACTS;
  }
  return OTHER_FACTS.find(([[, pattern]]) => pattern.test(name))?.[1] ?? NOTHING;
}

function defaultLifetime([model]: Row): CacheLifetime {
  return model[1] === HALF_HOUR || model[1] === CHEAP_READS ? '30m' : '5m';
}

/** Returns the whole table, each row under the name of its models. */
export function allFacts(): readonly (readonly [model: string, facts: ModelFacts])[] {
  return [
    ...CLAUDE_FACTS.map(
      ([[family, since], facts]) => [`Claude ${family} from ${since} on`, facts] as const,
    ),
    ...OTHER_FACTS.map(([[name], facts]) => [name, facts] as const),
  ];
}

function toFacts(row: Row, isMarked: boolean, lifetime: CacheLifetime): ModelFacts {
  const [, minCachedTokens, readPrice, thinking, maxOutputTokens, source] = row;
  return Object.freeze({
    minCachedTokens,
    isMarked,
    readPrice,
    lifetime,
    thinking,
    maxOutputTokens,
    source,
  });
}

const CLAUDE_NAMED = /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/;
/** Names of the third generation have the version first. */
const CLAUDE_NUMBERED = /claude-(\d)(?:[-.](\d))?-([a-z]+)/;

/**
 * Returns family and version (4.5 for `4-5`) of a lower-case name; undefined for a model of another
 * vendor.
 */
export function claudeOf(
  name: string,
): { readonly family: string; readonly version: number } | undefined {
  const named = CLAUDE_NAMED.exec(name);
  if (named !== null) return { family: named[1]!, version: versionOf(named[2]!, named[3]) };
  const numbered = CLAUDE_NUMBERED.exec(name);
  if (numbered === null) return undefined;
  return { family: numbered[3]!, version: versionOf(numbered[1]!, numbered[2]) };
}

function versionOf(major: string, minor: string | undefined): number {
  return Number(major) + Number(minor ?? 0) / 10;
}
