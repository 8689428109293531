/**
 * The one place that says which settings are understood but have no feature behind them
 * yet. `svc config show` lists them; whoever builds a feature deletes its line here.
 */

/** Keys, or whole sections, whose feature is not built yet. */
export const NOT_YET: readonly string[] = ['shared'];

/** True when the feature behind the setting of this key (as in the table) is built. */
export function isInEffect(key: string): boolean {
  return !NOT_YET.some((entry) => key === entry || key.startsWith(`${entry}.`));
}
