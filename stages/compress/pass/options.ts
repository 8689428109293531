/**
 * The options a request is compressed with. Mode and settings are pinned to a conversation at its
 * first eligible request: otherwise a changed setting would change bytes that the provider has
 * already cached. The pin also records how far the conversation was sent. One setting overrides
 * every pin at once: a user who turns rewriting off expects it to be off.
 */
import { SvcError } from '../../../engine/index.ts';
import type { StageContext } from '../../../engine/index.ts';
import type { Memory } from '../../conversations/memory.ts';
import type { Pin } from '../../conversations/record.ts';
import type { SendingRules } from '../../conversations/sending-rules.ts';
import { headerValue } from '../../model/headers.ts';
import type { ProxyRequest } from '../../model/request.ts';
import type { Services } from '../../services.ts';
import { mayForget } from '../history/may-forget.ts';
import type { RecipeSet } from '../../model/pass.ts';
import type { CompressConfig } from '../settings.ts';
import { isMode } from '../settings.ts';
import { COMPRESSION_VERSION } from '../version.ts';
import type { JobOptions } from '../worker/job.ts';
import type { JoinedPass } from './joined-pass.ts';
import { thresholdForBlocks } from './threshold.ts';

/**
 * Why the bytes of the prefix change this once, if they do; `strict` if the setting overrides the
 * pin.
 */
type PrefixChange = 'mode' | 'macro' | 'version' | 'strict' | 'context_editing' | undefined;

/** The options of one request, and what is recorded of its conversation. */
export interface RequestOptions {
  readonly memory: Memory;
  readonly sendingRules: SendingRules;
  readonly options: JobOptions;
  readonly tools: PinOptions['tools'];
  readonly change: PrefixChange;
}

/** Returns the mode named in the request's header. Throws `bad_request` for an unknown mode. */
export function requestedMode({ original }: ProxyRequest): CompressConfig['mode'] | undefined {
  const named = headerValue(original.body.headers, 'x-svc-mode')?.trim().toLowerCase();
  if (named === undefined || isMode(named)) return named;
  throw new SvcError(
    'bad_request',
    `x-svc-mode: '${named.slice(0, 40)}' is not a mode; send strict, hybrid or aggressive`,
  );
}

/** Returns the options of a request, pinned to its conversation and noted in its trace. */
export function optionsOf(
  request: ProxyRequest,
  joined: JoinedPass,
  services: Services,
  ctx: StageContext,
): RequestOptions {
  const { original } = request;
  const { config, recipes } = joined;
  const { conversations, learned, log } = services;
  const memory = conversations.memoryOf(request);
  // Read before this request changes the record.
  const sendingRules = conversations.standing(request);
  const requested = {
    mode: requestedMode(request),
    macro: requestedMacro(request, joined, sendingRules.isBound),
  };
  const defaults = {
    ...config,
    thresholdTokens: () => thresholdForBlocks(original.json, config.thresholdTokens),
    ...(learned.applied !== undefined && { applied: learned.applied.id }),
    ...(recipes !== undefined && { recipes: recipes.id }),
    forgets: mayForget(original.json),
    // Tools precede every signed thought, so they must not change either.
    ...(sendingRules.isBound && { tools: 'off' as const }),
  };
  const { options: pinned, change } = pinOptions(memory, defaults, requested);
  const options = resolveRules(pinned, recipes, services);
  ctx.note('mode', options.mode);
  if (options.recipes !== undefined) ctx.note('recipes', options.recipes.id);
  if (options.applied !== undefined) ctx.note('applied', options.applied.id);
  ctx.note('version', COMPRESSION_VERSION);
  if (change !== undefined && !sendingRules.isBound) {
    ctx.note('prefix_changes_because_of', change);
    if (change !== 'strict')
      log.warning('the compressed prefix of a conversation changes once', { because: change });
  }
  return { memory, sendingRules, options, tools: pinned.tools, change };
}

/**
 * Returns the settings and recipes of the macro that this request names; undefined if it names
 * none.
 */
function requestedMacro(
  { original }: ProxyRequest,
  { requested, recipes }: JoinedPass,
  isBound: boolean,
): RequestedMacro | undefined {
  if (requested === undefined) return undefined;
  const { thresholdTokens, tools, ...settings } = requested.settings;
  return {
    id: requested.id,
    recipes: recipes?.id,
    settings: {
      ...settings,
      ...(thresholdTokens !== undefined && {
        thresholdTokens: thresholdForBlocks(original.json, thresholdTokens),
      }),
      // Tools precede every signed thought, so they must not change either.
      ...(tools !== undefined && !isBound && { tools }),
    },
  };
}

/** Resolves rule ids in the pinned options. Rules that were deleted no longer apply. */
function resolveRules(
  pinned: PinOptions,
  current: RecipeSet | undefined,
  { learned, conversations }: Services,
): JobOptions {
  const { applied: id, recipes: setId, tools: _, ...options } = pinned;
  const applied = id === undefined ? undefined : learned.rules(id);
  const recipes = setId === undefined ? undefined : recipesOf(setId, current, conversations);
  return {
    ...options,
    ...(applied !== undefined && { applied }),
    ...(recipes !== undefined && { recipes }),
  };
}

/** Returns the recipes that a conversation began with, even if others are configured by now. */
function recipesOf(
  id: string,
  current: RecipeSet | undefined,
  conversations: Services['conversations'],
): RecipeSet | undefined {
  const kept = conversations.recipes(id);
  if (current?.id === id) {
    if (kept === undefined) conversations.setRecipes(id, JSON.stringify(current));
    return current;
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written above
  return kept === undefined ? undefined : (JSON.parse(kept) as RecipeSet);
}

interface Pinned {
  readonly options: PinOptions;
  readonly change: PrefixChange;
}

/** The pinned options: rules are stored by id, so that a pin stays small. */
export type PinOptions = Omit<JobOptions, 'applied' | 'recipes'> & {
  readonly applied?: string;
  readonly recipes?: string;
  /** How tool definitions are treated. */
  readonly tools?: 'off' | 'trim';
};

/** The pin of a conversation that begins now; its threshold is lazy, as it reads all tools. */
type Defaults = Omit<PinOptions, 'thresholdTokens'> & {
  readonly thresholdTokens: () => number;
};

/** The mode and the macro that the request itself names, the macro with all its settings. */
export interface Requested {
  readonly mode: JobOptions['mode'] | undefined;
  readonly macro: RequestedMacro | undefined;
}

export interface RequestedMacro {
  readonly id: string;
  readonly settings: Partial<Omit<PinOptions, 'recipes'>>;
  /** Id of the recipe set that runs with it. */
  readonly recipes: string | undefined;
}

/**
 * Returns the options of a conversation: those it began with, or `defaults` if it begins now. A
 * mode that this request names is pinned from then on, and so are a macro other than the last one
 * named and a default mode of `strict`. Once the provider may forget, that stays set.
 */
export function pinOptions(memory: Memory, defaults: Defaults, requested: Requested): Pinned {
  const { pin } = memory.record;
  const { macro: named } = requested;
  const macro = named?.id ?? pin?.macro;
  const isNamedAnew = named !== undefined && pin?.macro !== macro;
  const changed = isNamedAnew ? { ...named.settings, recipes: named.recipes } : {};
  const initial = { ...(pin ?? { ...defaults, thresholdTokens: undefined }), ...changed };
  const { mode, maxChars, logBudgetTokens } = initial;
  const thresholdTokens = initial.thresholdTokens ?? defaults.thresholdTokens();
  // A conversation that began without rules continues without them.
  const { applied, recipes, userProse, longResultsTokens = 0, tools } = initial;
  const forgets = defaults.forgets === true || pin?.forgets === true;
  const ownMode = requested.mode ?? named?.settings.mode;
  const options = {
    mode: ownMode ?? (defaults.mode === 'strict' ? 'strict' : mode),
    maxChars,
    thresholdTokens,
    logBudgetTokens,
    ...(applied === undefined ? {} : { applied }),
    ...(recipes === undefined ? {} : { recipes }),
    ...(userProse === true ? { userProse } : {}),
    ...(tools === 'trim' ? { tools } : {}),
    ...(longResultsTokens > 0 ? { longResultsTokens } : {}),
    ...(forgets ? { forgets } : {}),
  };
  const sent = pin?.sent === undefined ? {} : { sent: pin.sent };
  const ofMacro = macro === undefined ? {} : { macro };
  const fetch = pin?.fetch === undefined ? {} : { fetch: pin.fetch };
  setPin(memory, { version: COMPRESSION_VERSION, ...options, ...ofMacro, ...sent, ...fetch });
  if (pin === undefined) return { options, change: undefined };
  if (isNamedAnew) return { options, change: 'macro' };
  if (pin.mode !== options.mode)
    return { options, change: ownMode === undefined ? 'strict' : 'mode' };
  if (pin.version !== COMPRESSION_VERSION) return { options, change: 'version' };
  return { options, change: forgets && pin.forgets !== true ? 'context_editing' : undefined };
}

/**
 * Turns compression off, even for a conversation that was rewritten before: its pin becomes
 * `strict`. Returns true if that changed the pin. A conversation without a pin gets none.
 */
export function turnOff(
  request: ProxyRequest,
  { conversations }: Services,
  ctx: StageContext,
): boolean {
  if (conversations.figures.conversations === 0) return false;
  const { isBound } = conversations.standing(request);
  const memory = conversations.memoryOf(request);
  const { pin } = memory.record;
  if (pin === undefined || pin.mode === 'strict') return false;
  memory.set({ pin: { ...pin, mode: 'strict' } });
  ctx.note('mode', 'strict');
  if (!isBound) ctx.note('prefix_changes_because_of', 'off');
  return true;
}

/** Writes the pin only if it changed. */
function setPin(memory: Memory, pin: Pin): void {
  if (JSON.stringify(memory.record.pin) !== JSON.stringify(pin)) memory.set({ pin });
}
