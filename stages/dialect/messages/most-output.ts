/** How much a model may write where the client sets no limit. */
import { claudeOf } from '../../model/model-facts.ts';

/** The dialect demands a limit; where the client had none, what the model's generation can write. */
export function mostOutputOf(model: string): number {
  const version = claudeOf(model.toLowerCase())?.version;
  if (version === undefined) return 8192;
  if (version < 3.5) return 4096;
  return version < 4 ? 8192 : 32_000;
}
