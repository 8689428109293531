/** The config file that `svc setup` writes: a new short one, or changes to the existing one. */
import { stringify } from 'yaml';
import { SvcError } from '../../engine/error.ts';
import { yamlText } from '../integrate/yaml-text.ts';

/** Settings by key, such as `server.port`. */
export type Chosen = Readonly<Record<string, string | number | boolean>>;

const PREAMBLE = `# Configuration of svc, begun by \`svc setup\`.
# \`svc config show\` lists every setting with its value.
# \`svc config validate\` checks this file.
`;

/**
 * Returns `text` with the chosen settings; everything else, including comments, is kept.
 *
 * @throws SvcError `config` if something else is in the place of a setting.
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
