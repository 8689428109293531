/** The text of a fresh config file. */
import { defaultOf } from './document.ts';
import { isInEffect } from './not-yet.ts';
import { allSettings, type SettingKey } from './settings.ts';
import type { Setting } from './setting.ts';

const HEAD = `# Configuration of svc.
#
# Every setting is listed with its default, commented out: remove the # that stands
# right before a name to change it. Environment variables and flags of the command
# line take precedence. \`svc config show\` shows each value and where it came from.
# A file that holds keys should be readable only by you: chmod 600.`;

/** An example name for each placeholder. */
const EXAMPLE_NAMES: Readonly<Record<string, string>> = {
  '<name>': 'local',
  '<alias>': 'small',
  '<provider>': 'chat',
};

/** Example values where the default is null, so that every line can be uncommented as it is. */
const EXAMPLES: Partial<Record<SettingKey, unknown>> = {
  'server.ws_port': 8767,
  'providers.<name>.kind': 'chat',
  'providers.<name>.base_url': 'http://127.0.0.1:11434',
  'providers.<name>.auth': 'none',
  'models.<alias>.provider': 'chat',
};

/** A config file with every setting commented out; loading it changes nothing. */
export function freshConfig(): string {
  const lines: string[] = [HEAD];
  let open: readonly string[] = [];
  for (const [key, row] of inSections()) {
    const segments = key.split('.');
    const path = segments.map((segment) => EXAMPLE_NAMES[segment] ?? segment);
    const depth = path.length - 1;
    if (path[0] !== open[0]) lines.push('');
    for (let level = sharedDepth(path, open); level < depth; level++) {
      // Below an example name everything stays a comment: naming a provider makes one.
      const example = segments.slice(0, level + 1).some((segment) => segment.startsWith('<'));
      lines.push(`${indent(level)}${example ? '#' : ''}${path[level]}:`);
    }
    lines.push(`${indent(depth)}# ${aboutOf(key, row)}`);
    const value = JSON.stringify(EXAMPLES[key] ?? row.default);
    lines.push(`${indent(depth)}#${path[depth]}: ${value}`);
    open = path.slice(0, -1);
  }
  return `${lines.join('\n')}\n`;
}

/** What a setting does, what holds while it is unset, and whether it does anything yet. */
function aboutOf(key: SettingKey, row: Setting<unknown>): string {
  const unset = row.default === null ? ` Unset: ${defaultOf(row).replaceAll('`', '')}.` : '';
  return `${row.about}${unset}${isInEffect(key) ? '' : ' Not yet in effect.'}`;
}

/** How many sections of `path` are open already. */
function sharedDepth(path: readonly string[], open: readonly string[]): number {
  const first = open.findIndex((segment, level) => segment !== path[level]);
  return first < 0 ? open.length : first;
}

/** The rows with each section in one piece, sections in the order of their first row. */
function inSections(): readonly (readonly [SettingKey, Setting<unknown>])[] {
  const sections = new Map<string, (readonly [SettingKey, Setting<unknown>])[]>();
  for (const row of allSettings()) {
    const section = row[0].split('.', 1)[0] ?? '';
    sections.set(section, [...(sections.get(section) ?? []), row]);
  }
  return [...sections.values()].flat();
}

function indent(depth: number): string {
  return '  '.repeat(depth);
}
