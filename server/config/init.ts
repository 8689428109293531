/** The text of a new config file. */
import type { Setting } from '../../stages/settings/setting.ts';
import { defaultOf } from './document.ts';
import { settings } from './settings.ts';

const PREAMBLE = `# Configuration of svc.
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

/** Returns a config file with every setting commented out; loading it changes nothing. */
export function freshConfig(): string {
  const lines: string[] = [PREAMBLE];
  let open: readonly string[] = [];
  for (const row of settings) {
    const segments = row.key.split('.');
    const path = segments.map((segment) => EXAMPLE_NAMES[segment] ?? segment);
    const depth = path.length - 1;
    if (path[0] !== open[0]) lines.push('');
    for (let level = sharedDepth(path, open); level < depth; level++) {
      // Everything below an example name stays a comment: naming a provider creates one.
      const example = segments.slice(0, level + 1).some((segment) => segment.startsWith('<'));
      lines.push(`${indent(level)}${example ? '#' : ''}${path[level]}:`);
    }
    lines.push(`${indent(depth)}# ${aboutOf(row)}`);
    const value = JSON.stringify(row.example ?? row.default);
    lines.push(`${indent(depth)}#${path[depth]}: ${value}`);
    open = path.slice(0, -1);
  }
  return `${lines.join('\n')}\n`;
}

/** Describes a setting and its behaviour while unset. */
function aboutOf(row: Setting): string {
  const unset = row.default === null ? ` Unset: ${defaultOf(row).replaceAll('`', '')}.` : '';
  return `${row.about}${unset}`;
}

/** Returns how many sections of `path` are open already. */
function sharedDepth(path: readonly string[], open: readonly string[]): number {
  const first = open.findIndex((segment, level) => segment !== path[level]);
  return first < 0 ? open.length : first;
}

function indent(depth: number): string {
  return '  '.repeat(depth);
}
