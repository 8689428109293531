/** The templates of a home: one file each, `NAME.md`, in one folder. */
import { join } from 'node:path';
import { SvcError } from '../../engine/index.ts';
import { namedFiles } from '../named-files.ts';
import { readTemplate } from './template.ts';
import type { Template } from './template.ts';

export const templateFiles = namedFiles('template', '.md', 1_000_000);

export function templateFolder(home: string): string {
  return join(home, 'templates');
}

/** Returns the file's text. Throws `not_found` for a missing one, listing those that exist. */
export function templateSource(folder: string, name: string): string {
  const source = templateFiles.source(folder, name);
  if (source !== undefined) return source;
  const names = templateFiles.names(folder);
  const cure = names.length === 0 ? '`svc template add` adds one' : `there are ${names.join(', ')}`;
  throw new SvcError('not_found', `There is no template ${name}; ${cure}`);
}

export async function loadTemplate(folder: string, name: string): Promise<Template> {
  return readTemplate(name, templateSource(folder, name));
}
