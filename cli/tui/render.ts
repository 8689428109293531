/** Renders a whole screen as lines from the model, without a terminal. */
import type { LiveState } from '../../server/dashboard/contract.ts';
import { verdictOf } from '../../server/dashboard/page/conditions.ts';
import { spanOf } from '../../server/dashboard/page/format.ts';
import { mapUncolored, withoutColors } from '../screen/colors.ts';
import type { Colors } from '../screen/colors.ts';
import { cut, widthOf, wrap } from '../screen/fit.ts';
import { withoutControls, paintOf } from './grid.ts';
import { logView } from './log.ts';
import type { Model } from './model.ts';
import { TABS, visibleRequests } from './model.ts';
import { overview } from './overview.ts';
import { providersView } from './providers.ts';
import { requestDetail } from './request.ts';
import { requestList } from './requests.ts';
import { savingsView } from './savings.ts';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface ScreenText {
  /** As many lines as the screen has rows, none wider than the screen. */
  readonly lines: readonly string[];
  /** The scroll position, limited to the maximum. */
  readonly scroll: number;
  /** Screen lines of the view. */
  readonly height: number;
}

const TITLES = {
  overview: 'Overview',
  requests: 'Requests',
  providers: 'Providers',
  savings: 'Savings',
  log: 'Log',
} as const;

type View = (model: Model, width: number, height: number, colors: Colors) => string[];

const VIEWS: Readonly<Record<Model['tab'], View>> = {
  overview,
  requests: requestList,
  providers: (model, width, _height, colors) => providersView(model, width, colors),
  savings: (model, width, _height, colors) => savingsView(model, width, colors),
  log: (model, width, _height, colors) => logView(model, width, colors),
};

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ['1 to 5, Tab, ← →', 'the views: overview, requests, providers, savings, log'],
  ['↑ ↓, j k', 'choose a request, or scroll'],
  ['PgUp PgDn, g G', 'a screen further, to the first and last line'],
  ['Enter', 'the chosen request with its stages'],
  ['Esc, Backspace', 'back'],
  ['r', 'another range of time: an hour, a day, today, a week, a month, all'],
  ['f', 'only failed requests, or all'],
  ['?', 'this help'],
  ['q, Ctrl-C', 'quit'],
];

/** Renders the screen in `size`. */
export function renderScreen(model: Model, { columns, rows }: Size, colors: Colors): ScreenText {
  const above = [header(model, colors), tabs(model, columns, colors), ''];
  const height = Math.max(0, rows - above.length - 1);
  const body = bodyOf(model, columns, height, colors);
  const scroll = Math.max(0, Math.min(model.scroll, body.length - height));
  const visible = body.slice(scroll, scroll + height);
  while (visible.length < height) visible.push('');
  const below = body.length - scroll - height;
  const lines = [...above, ...visible, footer(model, columns, below, colors)].slice(0, rows);
  return { lines: lines.map((line) => fitted(line, columns)), scroll, height };
}

/** Renders the view alone, as for a screen of this width and unlimited height. */
export function bodyOf(model: Model, width: number, height: number, colors: Colors): string[] {
  if (model.isHelp) return help(colors, width);
  if (model.live === undefined && model.connection === 'lost')
    return model.connectionProblem.flatMap((line) => wrap(withoutControls(line), width));
  if (model.detail !== undefined) return requestDetail(model, width, colors);
  // Table rows already fit: only sentences are folded.
  return VIEWS[model.tab](model, width, height, colors).flatMap((line) => wrap(line, width));
}

/** Returns the overall verdict, as in the browser; a pause is always mentioned. */
function verdict(live: LiveState, colors: Colors): readonly string[] {
  const [word, tone] = verdictOf(live);
  return [
    paintOf(tone, colors)(word.toLowerCase()),
    ...(live.health.paused && word !== 'Paused' ? [colors.yellow('paused')] : []),
  ];
}

function header({ version, url, connection, live }: Model, colors: Colors): string {
  const word = {
    connecting: colors.yellow('connecting'),
    live: colors.green('live'),
    lost: colors.red('no connection, trying again'),
  }[connection];
  const known =
    live === undefined
      ? []
      : [
          ...verdict(live, colors),
          live.health.compilation_mode,
          `up ${spanOf(live.health.uptime_seconds)}`,
        ];
  return [`${colors.bold('svc')} ${live?.health.version ?? version}`, word, ...known, url ?? '']
    .filter((part) => part !== '')
    .join('  ');
}

/** Returns the views by name, or by number if names do not fit. The current one is in brackets. */
function tabs({ tab, detail, range }: Model, columns: number, colors: Colors): string {
  const line = (name: (at: number) => string) =>
    TABS.map((one, at) =>
      one === tab && detail === undefined ? colors.bold(`[${name(at)}]`) : ` ${name(at)} `,
    ).join('');
  const long = `${line((at) => `${at + 1} ${TITLES[TABS[at]!]}`)}  ${colors.dim(range.title)}`;
  if (widthOf(long) <= columns) return long;
  return `${line((at) => (TABS[at] === tab ? `${at + 1} ${TITLES[tab]}` : String(at + 1)))} ${colors.dim(range.id)}`;
}

function footer(model: Model, columns: number, below: number, { dim, red }: Colors): string {
  if (model.connection === 'lost' && model.live !== undefined)
    return red(cut(withoutControls(model.connectionProblem.join(' ')), columns));
  const more = below > 0 ? `${below} more below  ` : '';
  const isBack = model.detail !== undefined || model.isHelp;
  const isList = model.tab === 'requests' && visibleRequests(model).length > 0;
  const act = isBack ? 'Esc back  ' : isList ? 'Enter open  ' : '';
  const scope = model.failedOnly ? 'failed only  ' : '';
  const long = `${more}${scope}${act}1-5 views  ↑↓ move  r range  f failed  ? help  q quit`;
  return dim(widthOf(long) <= columns ? long : `${more}${act}? help  q quit`);
}

function help(colors: Colors, width: number): string[] {
  const keyWidth = Math.max(...KEYS.map(([keys]) => widthOf(keys)));
  return [
    colors.bold('Keys'),
    ...KEYS.flatMap(([keys, what]) =>
      wrap(`${keys}${' '.repeat(keyWidth - widthOf(keys))}  ${what}`, width),
    ),
    '',
    ...wrap(
      'Figures cover the time range shown next to the views; “since the start” means the proxy’s start. A dash means not measured.',
      width,
    ),
  ];
}

/**
 * Whatever the view returned, a line is no wider than the screen and contains no control sequence
 * but our colours.
 */
function fitted(line: string, columns: number): string {
  const safe = mapUncolored(line, withoutControls);
  return widthOf(safe) <= columns ? safe : cut(withoutColors(safe), columns);
}
