/** The templates of a home: one file each, `NAME.md`, in one folder. */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../engine/index.ts';
import { reasonOf } from '../disk-reason.ts';
import { MOST_TEMPLATE_BYTES, TEMPLATE_NAME, readTemplate } from './template.ts';
import type { Template } from './template.ts';

export function templateFolder(home: string): string {
  return join(home, 'templates');
}

/** Throws `bad_request` for what cannot be a name: no path leads out of the folder. */
export function templateFile(folder: string, name: string): string {
  if (TEMPLATE_NAME.test(name)) return join(folder, `${name}.md`);
  throw new SvcError(
    'bad_request',
    `${JSON.stringify(name.slice(0, 80))} cannot be the name of a template: lower case letters, digits, - and _ are wanted`,
  );
}

/** The names of all, in order. */
export function templateNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith('.md') && TEMPLATE_NAME.test(file.slice(0, -3)))
      .map((file) => file.slice(0, -3))
      .toSorted();
  } catch {
    return [];
  }
}

/** The file's text. Throws `not_found` for one that is not there, with the names that are. */
export function templateSource(folder: string, name: string): string {
  const file = templateFile(folder, name);
  try {
    if (statSync(file).size > MOST_TEMPLATE_BYTES)
      throw new SvcError('bad_request', `Template ${name} is larger than 1 MB`);
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if (cause instanceof SvcError) throw cause;
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT')
      throw new SvcError('bad_request', `Template ${name} cannot be read: ${reasonOf(cause)}`, {
        cause,
      });
    const names = templateNames(folder);
    const cure =
      names.length === 0 ? '`svc template add` adds one' : `there are ${names.join(', ')}`;
    throw new SvcError('not_found', `There is no template ${name}; ${cure}`, { cause });
  }
}

export async function loadTemplate(folder: string, name: string): Promise<Template> {
  return readTemplate(name, templateSource(folder, name));
}
