/** The config file that `svc setup` writes: a short one, or the changes to the one that is there. */
import { Document, parseDocument } from 'yaml';
import { SvcError } from '../../engine/error.ts';

/** Settings by their keys, such as `server.port`. */
export type Chosen = Readonly<Record<string, string | number>>;

const HEAD = `# Configuration of svc, begun by \`svc setup\`.
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
  const parsed = parseDocument(text);
  // A file of comments alone: they stay ahead.
  const isBare = parsed.contents === null;
  const document = isBare ? new Document({}) : parsed;
  try {
    for (const [key, value] of Object.entries(chosen)) {
      const [section = '', name] = key.split('.', 2);
      const isEmpty = document.get(section) === null;
      if (name === undefined) document.set(section, value);
      else if (isEmpty) document.set(section, document.createNode({ [name]: value }));
      else document.setIn([section, name], value);
    }
    const written = document.toString({ lineWidth: 0 });
    if (!isBare) return written;
    return `${text === '' ? HEAD : text.replace(/\n?$/, '\n')}\n${written}`;
  } catch (cause) {
    throw new SvcError('config', `The config file has no place for ${Object.keys(chosen)[0]}`, {
      cause,
      cure: '`svc config validate` shows what is wrong with it.',
    });
  }
}
