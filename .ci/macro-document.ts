/** The generated part of `docs/macros.md`: every action with its parameters. */
import { ACTIONS, actionOf, isActionName } from '../stages/macros/actions.ts';
import type { Param } from '../stages/macros/actions.ts';

export function actionsTable(): string {
  const rows = Object.keys(ACTIONS)
    .filter(isActionName)
    .map((name) => {
      const { about, params, undo } = actionOf(name);
      const taken = Object.entries(params).map(([param, one]) => `\`${param}\`: ${meaning(one)}`);
      return `| \`${name}\` | ${about} | ${taken.join('; ') || '–'} | ${undo ?? '–'} |`;
    });
  return ['| Action | What it does | Takes | How to undo |', '|---|---|---|---|', ...rows].join(
    '\n',
  );
}

function meaning(param: Param): string {
  const about = param.about.charAt(0).toLowerCase() + param.about.slice(1);
  const words = param.kind === 'word' ? ` (${param.words.join(' or ')})` : '';
  if (param.default === undefined) return `${about}${words}`;
  const standard = param.default === null ? 'may be left out' : `${param.default} if left out`;
  return `${about}${words} (${standard})`;
}
