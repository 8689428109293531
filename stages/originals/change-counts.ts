/**
 * What each recipe and rule has changed since the start, and in what, in tokens of the fixed
 * estimator.
 */
/** Names of tools and classes with their own sum; those past it are counted together. */
const MAX_NAMES = 20;
const OTHER = '(other)';

/** A changed block, as far as it is counted. */
export interface Change {
  readonly toolName: string | null;
  readonly by: readonly string[];
  readonly kind: string | null;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

interface Sums {
  /** Changed blocks, counted once in every request they were part of. */
  blocks: number;
  tokensBefore: number;
  tokensAfter: number;
}

/** The sums of one recipe (`recipe:NAME`) or rule. A block changed by several counts for each. */
export interface ChangeCount extends Readonly<Sums> {
  readonly by: string;
  readonly requests: number;
  /** Where: the tool whose result it was, or else the class of text; most tokens saved first. */
  readonly on: readonly (Readonly<Sums> & { readonly name: string })[];
}

/** The names come from the program and its configuration, so there are never many. */
export function createChangeCounts() {
  const all = new Map<string, Sums & { requests: number; on: Map<string, Sums> }>();
  const sumsOf = (by: string) => {
    const sums = all.get(by) ?? { ...NONE, requests: 0, on: new Map<string, Sums>() };
    all.set(by, sums);
    return sums;
  };
  return {
    /** Counts the changed blocks of one request. */
    add(changed: readonly Change[]): void {
      const seen = new Set<string>();
      for (const block of changed)
        for (const rule of new Set(block.by)) {
          const sums = sumsOf(rule);
          if (!seen.has(rule)) sums.requests += 1;
          seen.add(rule);
          addTo(sums, block);
          const named = block.toolName ?? block.kind ?? OTHER;
          const name = sums.on.has(named) || sums.on.size < MAX_NAMES ? named : OTHER;
          const part = sums.on.get(name) ?? { ...NONE };
          sums.on.set(name, part);
          addTo(part, block);
        }
    },
    /** Most tokens saved first. */
    list: (): readonly ChangeCount[] =>
      [...all]
        .map(([by, { on, ...sums }]) => ({
          by,
          ...sums,
          on: [...on].map(([name, part]) => ({ name, ...part })).toSorted(mostSaved),
        }))
        .toSorted(mostSaved),
  };
}

const NONE: Sums = { blocks: 0, tokensBefore: 0, tokensAfter: 0 };

function addTo(sums: Sums, { tokensBefore, tokensAfter }: Change): void {
  sums.blocks += 1;
  sums.tokensBefore += tokensBefore;
  sums.tokensAfter += tokensAfter;
}

function mostSaved(one: Sums, other: Sums): number {
  return other.tokensBefore - other.tokensAfter - (one.tokensBefore - one.tokensAfter);
}
