/**
 * A prompt template: a text with `{{name}}` placeholders, and above it, between two lines of `---`,
 * the declarations of its variables. A value is data: its content is never expanded again.
 */
import { SvcError } from '../../engine/index.ts';
import { fillPlaceholders, placeholdersOf, toVariable, valuesOf } from '../model/placeholders.ts';
import type { Variable } from '../model/placeholders.ts';

export type TemplateVariable = Variable;

export interface Template {
  readonly name: string;
  readonly description: string | undefined;
  /** In the order in which the text uses them. */
  readonly variables: readonly TemplateVariable[];
  /** Without the front matter. */
  readonly text: string;
}

/** A template has a line or two for each of its variables. */
const MAX_CHARS = 64 * 1024;
/** Nesting of brackets; two levels are useful. */
const MAX_BRACKETS = 32;
const TOO_DEEP = 'the part between the lines of --- is nested too deeply';

const FRONT_MATTER = /^---\r?\n([^]*?)^---[ \t]*(?:\r?\n|$)/m;

/** Rejects with `bad_request` listing all faults. */
export async function readTemplate(name: string, source: string): Promise<Template> {
  const frontMatter = source.startsWith('---') ? FRONT_MATTER.exec(source) : null;
  const text = frontMatter === null ? source : source.slice(frontMatter[0].length);
  const used = placeholdersOf(text);
  const { description, variables, faults } = await readFrontMatter(frontMatter?.[1] ?? '');
  const unused = [...variables.keys()].filter((each) => !used.includes(each));
  const all = [
    ...faults,
    ...unused.map((each) => `variable ${each} is not used in the text`),
    ...(text.trim() === '' ? ['it has no text'] : []),
  ];
  if (all.length > 0)
    throw new SvcError('bad_request', `Template ${name} cannot be used: ${all.join('; ')}`);
  const listed = used.map(
    (each) => variables.get(each) ?? { name: each, default: undefined, about: undefined },
  );
  return { name, description, variables: listed, text };
}

async function readFrontMatter(source: string) {
  // Imported here, so that it does not slow down the start.
  const yaml = await import('yaml');
  const { members, faults } = readMembers(yaml, source);
  const variables = new Map<string, TemplateVariable>();
  let description: string | undefined;
  for (const [key, value] of entriesOf(members)) {
    if (key === 'description') description = String(value);
    else if (key === 'variables')
      for (const [name, given] of entriesOf(value)) variables.set(name, toVariable(name, given));
    else faults.push(`${key} is not known; there are description and variables`);
  }
  return { description, variables, faults };
}

/**
 * Returns the plain data of a short YAML text, or why it is not read. Anchors alone are harmless;
 * aliases are refused.
 */
function readMembers(
  { isAlias, parseDocument, visit }: typeof import('yaml'),
  source: string,
): { readonly members: unknown; readonly faults: string[] } {
  if (source.length > MAX_CHARS)
    return { members: null, faults: ['the part between the lines of --- is too long'] };
  // Checked before the parser, which recurses, and takes long to give up.
  if (isDeep(source)) return { members: null, faults: [TOO_DEEP] };
  try {
    const document = parseDocument(source, { merge: false, logLevel: 'error' });
    const faults = document.errors.map(({ message }) => message.split('\n', 1)[0] ?? '');
    let alias: string | undefined;
    visit(document, {
      Node(_key, node) {
        if (!isAlias(node)) return undefined;
        alias = node.source;
        return visit.BREAK;
      },
    });
    if (alias !== undefined)
      faults.push(`aliases such as *${alias} are not read: write the value itself`);
    return { members: faults.length > 0 ? null : (document.toJS() as unknown), faults };
  } catch {
    // Input on which the parser recurses without end.
    return { members: null, faults: [TOO_DEEP] };
  }
}

function isDeep(source: string): boolean {
  let depth = 0;
  for (const [bracket] of source.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    if (depth > MAX_BRACKETS) return true;
  }
  return /(?:[-?][ \t]+){33}/.test(source);
}

const entriesOf = (value: unknown): readonly (readonly [string, unknown])[] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : [];

/**
 * Returns the text with values filled in. Throws `bad_request` naming missing and unknown
 * variables.
 */
export function fillTemplate(
  { name, text, variables }: Template,
  values: ReadonlyMap<string, string>,
): string {
  const { values: all, faults } = valuesOf(variables, values);
  if (faults.length > 0)
    throw new SvcError(
      'bad_request',
      `Template ${name} ${faults.join(', ')}. Its variables: ${variables.map((each) => each.name).join(', ') || 'none'}`,
    );
  return fillPlaceholders(text, (each) => all.get(each) ?? '');
}
