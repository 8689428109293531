/** The config file that `svc setup` writes: a short one, or the changes to the one that is there. */
import { stringify } from 'yaml';
import { SvcError } from '../../engine/error.ts';
import { yamlText } from '../integrate/yaml-text.ts';

/** Settings by their keys, such as `server.port`. */
export type Chosen = Readonly<Record<string, string | number | boolean>>;

const PREAMBLE = `# Configuration of svc, begun by \`svc setup\`.
# \`svc config show\` lists every setting with its value.
# \`svc config validate\` checks this file.
`;

/**
 * `text` with the chosen settings in it; what else stands there stays, comments included.
 *
 * @throws SvcError `config` where something else stands in the way of a setting.
 */
export function withChosen(text: string, chosen: Chosen): string {
  if (Object.keys(chosen).length === 0) return text;
  try {
    const entries = Object.entries(chosen);
    return entries.reduce(
      (written, [key, value]) => yamlText.put(written, key.split('.'), stringify(value).trimEnd()),
      text === '' ? `${PREAMBLE}\n` : text,
    );
  } catch (cause) {
    throw new SvcError('config', `The config file has no place for ${Object.keys(chosen)[0]}`, {
      cause,
      cure: '`svc config validate` shows what is wrong with it.',
    });
  }
}
