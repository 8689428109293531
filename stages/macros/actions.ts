/** What a step of a macro can do: the complete list, with the parameters of each action. */

/**
 * The type of a parameter: a text, a whole number, a boolean, one of some words, or one or several
 * texts.
 */
export type Param = Described &
  (
    | { readonly kind: 'text' }
    | { readonly kind: 'flag' }
    | { readonly kind: 'texts' }
    | { readonly kind: 'count'; readonly min: number; readonly max: number }
    | { readonly kind: 'word'; readonly words: readonly string[] }
  );

interface Described {
  readonly about: string;
  /** Absent if the parameter is required; null if it is optional without a default. */
  readonly default?: string | number | null;
}

export interface Action {
  /** One sentence; shown in the documentation and in `svc macro actions`. */
  readonly about: string;
  readonly params: Readonly<Record<string, Param>>;
  /** How to undo it; null if that is impossible or unnecessary. */
  readonly undo: string | null;
  /** Whether it needs a running proxy. */
  readonly needsProxy: boolean;
  /** True for what a macro does as a stage before `compress`, or to the file it is run on. */
  readonly inStage?: true;
}

const text = (about: string) => ({ kind: 'text', about }) as const;
const optional = (about: string) => ({ kind: 'text', about, default: null }) as const;
const word = <const W extends readonly string[]>(about: string, words: W) =>
  ({ kind: 'word', about, words, default: null }) as const;
const tokens = (about: string, min = 0) =>
  ({ kind: 'count', about, min, max: 999_999_999, default: null }) as const;

/** Every action, by its name in macros. */
export const ACTIONS = {
  recipes: {
    about: 'Runs recipes before those of `compression.recipes`, even if not listed there',
    params: { use: { kind: 'texts', about: 'A recipe by its name or file, or a list of them' } },
    undo: null,
    needsProxy: false,
    inStage: true,
  },
  settings: {
    about: 'Overrides the compression settings of the same names',
    params: {
      mode: word('How much is changed', ['strict', 'hybrid', 'aggressive']),
      threshold_tokens: tokens('Tokens from which on a block is compressed'),
      log_budget_tokens: tokens('Tokens that a reduced log may have', 1),
      long_results_tokens: tokens('Tokens from which on a long result goes out in parts'),
      max_chars: tokens('Soft length of a narrative chunk, in characters', 1),
      user_prose: {
        kind: 'flag',
        about: 'Whether long prose of the user may be shortened',
        default: null,
      },
      tools: word('Whether definitions of tools are trimmed', ['off', 'trim']),
    },
    undo: null,
    needsProxy: false,
    inStage: true,
  },
  compress: {
    about: 'Makes a file smaller with recipes and writes the result to a new file',
    params: {
      file: text('The file that is read'),
      recipe: {
        kind: 'texts',
        about: 'A recipe by its name or file, or a list of them that run one after another',
      },
      to: text('The file that is written, below the folder in which the macro runs'),
      command: optional('The command that printed the file, where the recipe asks for one'),
    },
    undo: 'delete the file',
    needsProxy: false,
  },
  ingest: {
    about: 'Adds a text file to the vault as one block',
    params: {
      file: text('The file'),
      id: optional('The name of the block; one of the same name is replaced'),
    },
    undo: null,
    needsProxy: true,
  },
  search: {
    about: 'Searches the vault and shows the matches; fails if there are none',
    params: {
      query: text('What is searched for'),
      top: { kind: 'count', about: 'Most hits', min: 1, max: 100, default: 5 },
    },
    undo: null,
    needsProxy: true,
  },
  pause: {
    about: 'Sends requests unchanged until resumed',
    params: {},
    undo: '`svc resume`',
    needsProxy: true,
  },
  resume: {
    about: 'Ends the pause',
    params: {},
    undo: '`svc pause`',
    needsProxy: true,
  },
  debug: {
    about: 'Turns step-by-step request logging on or off',
    params: { on: { kind: 'flag', about: 'true or false' } },
    undo: '`svc debug on` or `off`',
    needsProxy: true,
  },
  force_health: {
    about: 'Sets a provider to healthy or unhealthy by hand',
    params: {
      provider: text('Its name'),
      state: { kind: 'word', about: 'New state', words: ['healthy', 'unhealthy'] },
    },
    undo: '`svc provider-force-health`',
    needsProxy: true,
  },
  route_add: {
    about: 'Adds a routing rule',
    params: {
      id: text('The name of the rule'),
      target: text('Where to: provider/model'),
      model: optional('The requested model; * and ? are wildcards; every one if left out'),
      priority: {
        kind: 'count',
        about: 'The highest is tried first',
        min: 0,
        max: 1000,
        default: 0,
      },
    },
    undo: '`svc route remove`',
    needsProxy: true,
  },
  route_remove: {
    about: 'Removes a routing rule',
    params: { id: text('The name of the rule') },
    undo: '`svc route add`',
    needsProxy: true,
  },
  cache_clear: {
    about: 'Clears the response cache',
    params: {},
    undo: null,
    needsProxy: true,
  },
  learn: {
    about: 'Applies or resets what was learned from traffic',
    params: { do: { kind: 'word', about: 'Which of the two', words: ['apply', 'reset'] } },
    undo: null,
    needsProxy: true,
  },
  check_alerts: {
    about: 'Evaluates the alert rules; fails when one fires',
    params: {},
    undo: null,
    needsProxy: true,
  },
  reload: {
    about: 'Reloads the configuration; an invalid one changes nothing and fails the step',
    params: {},
    undo: 'restore the file and reload again',
    needsProxy: true,
  },
} as const satisfies Readonly<Record<string, Action>>;

export type ActionName = keyof typeof ACTIONS;

export function isActionName(name: string): name is ActionName {
  return Object.hasOwn(ACTIONS, name);
}

/** Returns the action with that name, with the types of every action. */
export const actionOf = (name: ActionName): Action => ACTIONS[name];
