/**
 * Finds limits on models that are probably mistyped: a key limited to `claud-*` alone is refused
 * for every request, and without a remark its owner learns that from the 403.
 */
import type { Config } from '../../server/config/config.ts';

/** Vendors whose models are compared; more than those that `svc list-pricing` shows by default. */
const VENDORS = [
  'anthropic',
  'openai',
  'google',
  'mistral',
  'deepseek',
  'x-ai',
  'moonshotai',
  'groq',
  'openrouter',
] as const;

/** The dialects whose vendors are asked for the price of a name that no list contains. */
const KINDS = ['messages', 'chat', 'generative'] as const;

/**
 * Returns a remark on each of `globs` that matches no model of the price tables and the
 * configuration. Either may lack a new or local model, so this is not a reason to refuse the limit.
 */
export async function remarksOnModels(
  globs: readonly string[],
  config: Config,
  nowMs: number,
): Promise<string[]> {
  const [{ createPriceList }, { ownPrices }, { isGlobMatch }, { nearest }] = await Promise.all([
    import('../../stages/ledger/prices/price-list.ts'),
    import('../../server/generation/providers.ts'),
    import('../../stages/route/rules.ts'),
    import('../../server/config/did-you-mean.ts'),
  ]);
  const [list, own] = [createPriceList(), ownPrices(config)];
  const listed = VENDORS.flatMap((vendor) => list.list(vendor, nowMs, own));
  const names = [...modelsOf(config), ...listed.map(({ model }) => model)];
  const known = [...new Set(names.map((name) => name.toLowerCase()))];
  const isKnown = (glob: string): boolean =>
    known.some((name) => isGlobMatch(glob, name)) ||
    // A dated name, or the beginning of one, has the price of its model.
    KINDS.some((kind) => list.find({ name: kind, kind }, literalOf(glob), nowMs, own) !== null);
  return globs
    .filter((glob) => !isKnown(glob.toLowerCase()))
    .map((glob) => {
      const { length } = literalOf(glob);
      const near = nearest(
        literalOf(glob.toLowerCase()),
        known.map((name) => name.slice(0, length + 1)),
      );
      const hint =
        near === undefined ? '' : `; did you mean ${near}${glob.includes('*') ? '*' : ''}?`;
      return `warning: --models: '${glob}' matches no model of the price tables or the configuration${hint}`;
    });
}

/** The models that the configuration names. */
function modelsOf({ providers, routing }: Config): string[] {
  const aliases = Object.values(providers).flatMap(({ modelAliases }) =>
    Object.entries(modelAliases ?? {}).flat(),
  );
  const fallbacks = routing.fallback.flatMap((target) => {
    const slash = target.indexOf('/');
    return slash < 0 ? [] : target.slice(slash + 1);
  });
  return [...Object.keys(routing.models), ...aliases, ...fallbacks];
}

/** Returns a pattern without the signs that stand for any text. */
function literalOf(glob: string): string {
  return glob.replaceAll(/[*?]/g, '');
}
