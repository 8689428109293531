/** The output limit of a model if the client sets none. */
import { claudeOf } from '../../model/model-facts.ts';

/**
 * The dialect requires a limit; if the client had none, returns the maximum of the model's
 * generation.
 */
export function maxOutputOf(model: string): number {
  const version = claudeOf(model.toLowerCase())?.version;
  if (version === undefined) return 8192;
  if (version < 3.5) return 4096;
  return version < 4 ? 8192 : 32_000;
}
