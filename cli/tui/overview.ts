/** The first screen: whether it works, what it saved, what went wrong, and what soon may. */
import type { LiveState, ReportJson } from '../../server/dashboard/contract.ts';
import { causeOf, concernsOf, partiesOf } from '../../server/dashboard/page/conditions.ts';
import { conditionOf } from '../../server/words/problems.ts';
import { wholeNumber } from '../../server/dashboard/page/format.ts';
import { seriesOf } from '../../server/dashboard/page/charts/series.ts';
import { headlineFigures, outlookFacts } from '../../server/dashboard/page/summary.ts';
import { spark } from '../screen/chart.ts';
import type { Colors } from '../screen/colors.ts';
import { wrap } from '../screen/fit.ts';
import { withUserCommands } from '../screen/output.ts';
import { facts, withoutControls, paintOf } from './grid.ts';
import { visibleRequests } from './model.ts';
import type { Model } from './model.ts';
import { requestLines } from './requests.ts';

/** Newest requests shown at least. */
const NEWEST = 5;
const MAX_CAUSES = 5;
/** Causes shown if the newest requests would otherwise be below the screen. */
const MAX_CAUSES_LOW = 3;
const LOW_ROWS = 24;
const CHART_COLUMNS = 60;
/** Columns of the names at the start of a line. */
const LABEL_COLUMNS = 13;

export function overview(model: Model, width: number, height: number, colors: Colors): string[] {
  const { live, report, failedOnly } = model;
  const requests = visibleRequests(model);
  if (live === undefined || report === undefined) return ['Loading…'];
  const above = reasons(model, width, colors);
  if (report.totals.requests === 0 && live.session.requests === 0)
    return [...above, ...firstRequest(model, colors)];
  above.push(
    ...figures(live, report, colors),
    ...outlook(live, report, width, colors),
    '',
    ...charts(report, width, colors),
    '',
    ...failureLines(report, height < LOW_ROWS ? MAX_CAUSES_LOW : MAX_CAUSES, colors),
    '',
    ...providers(live, colors),
    '',
    colors.bold(failedOnly ? 'Newest failed requests' : 'Newest requests'),
  );
  const room = Math.max(NEWEST, height - above.length - 1);
  if (requests.length === 0) return [...above, 'None in this range of time.'];
  return [...above, ...requestLines(requests.slice(0, room), model.nowMs, width, colors)];
}

function reasons({ live, program }: Model, width: number, colors: Colors): string[] {
  const list = live === undefined ? [] : concernsOf(live).filter((one) => one.isFigure !== true);
  if (list.length === 0) return [];
  return [
    ...list.flatMap(({ text, tone }) =>
      wrap(`! ${withoutControls(withUserCommands(text, { program }))}`, width).map(
        tone === 'bad' ? colors.red : colors.yellow,
      ),
    ),
    '',
  ];
}

/** Returns the outlook below the answers, on one line. */
function outlook(live: LiveState, report: ReportJson, width: number, colors: Colors): string[] {
  const parts = outlookFacts(live, report)
    // Firing alerts are shown above.
    .filter(({ id }) => id !== 'alerts')
    .map(({ id, name, value, detail, tone }) => {
      const more = id === 'plan_used' ? ` (${withoutControls(detail)})` : '';
      return `${name.toLowerCase()} ${paintOf(tone, colors)(value)}${more}`;
    });
  return wrap(`${colors.dim('Outlook'.padEnd(LABEL_COLUMNS))}${parts.join(', ')}`, width);
}

function figures(live: LiveState, report: ReportJson, colors: Colors): string[] {
  const rows = headlineFigures(live, report);
  const width = Math.max(...rows.map(({ value }) => value.length));
  return rows.map(({ name, value, detail, tone }) => {
    const paint = tone === undefined ? colors.bold : paintOf(tone, colors);
    return `${colors.dim(name.padEnd(LABEL_COLUMNS))}${paint(value.padStart(width))}  ${detail}`;
  });
}

function charts(report: ReportJson, width: number, { dim, green }: Colors): string[] {
  const full = seriesOf(report);
  const columns = Math.max(8, Math.min(CHART_COLUMNS, width - LABEL_COLUMNS));
  const line = (name: string, values: (number | null)[], paint = (text: string) => text) =>
    `${dim(name.padEnd(LABEL_COLUMNS))}${paint(
      spark(
        values.map((value) => value ?? 0),
        columns,
      ),
    )}`;
  return [
    line(
      'Requests',
      full.values((step) => step.requests, 0),
    ),
    line(
      'Tokens saved',
      full.values((step) => step.saved_tokens, 0),
      green,
    ),
  ];
}

function failureLines({ failures }: ReportJson, max: number, colors: Colors): string[] {
  if (failures.length === 0) return [`${colors.bold('What went wrong')}  nothing`];
  return [
    colors.bold('What went wrong'),
    ...facts(
      failures
        .slice(0, max)
        .map((group) => [
          `  ${wholeNumber(group.requests)}`,
          `${causeOf(group)}, ${partiesOf(group)}`,
        ]),
      { ...colors, dim: colors.red },
    ),
  ];
}

function providers({ providers: all }: LiveState, colors: Colors): string[] {
  const words = Object.entries(all).map(([name, provider]) => {
    const [word, tone] = conditionOf(provider);
    return `${withoutControls(name)} ${paintOf(tone, colors)(word)}`;
  });
  return [`${colors.bold('Providers')}  ${words.join(', ')}`];
}

function firstRequest({ url, program }: Model, colors: Colors): string[] {
  const origin = url ?? 'http://127.0.0.1:8766';
  return [
    colors.bold('Ready, and waiting for the first request'),
    '',
    'Point a client at this proxy; what it sends appears here as it happens.',
    '',
    ...facts(
      [
        ['Claude Code', `ANTHROPIC_BASE_URL=${origin} claude`],
        ['OpenAI SDKs', `OPENAI_BASE_URL=${origin}/v1`],
      ],
      colors,
    ),
    '',
    withUserCommands('`svc integrate` sets clients up, `svc doctor` finds what is missing.', {
      program,
    }),
  ];
}
