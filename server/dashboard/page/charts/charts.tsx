/** The charts of the first screen: plain, or stacked by model, project, key or agent. */
import { useMemo } from 'preact/hooks';
import type { ReportJson, StacksJson } from '../../contract.ts';
import { Chart } from './chart.tsx';
import type { Series } from './chart.tsx';
import { useFetched } from '../fetched.ts';
import { dollars, duration, orDash, short } from '../format.ts';
import { Link } from '../frame/link.tsx';
import { setFilters } from '../frame/location.ts';
import { queryOf } from '../requests/requests-data.ts';
import { seriesOf, timesOf } from './series.ts';
import { Fault } from '../message-text.tsx';

/** What charts can be stacked by: name in URLs, and in words. */
const STACKS = [
  ['model', 'model'],
  ['project', 'project'],
  ['key', 'key'],
  ['client', 'agent'],
] as const;

interface ChartsProps {
  readonly report: ReportJson;
  readonly query: URLSearchParams;
}

export function Charts({ report, query }: ChartsProps) {
  const stack = STACKS.find(([name]) => name === query.get('by'));
  return (
    <>
      <section class="charts" aria-label="Over time">
        <label class="stack-choice">
          <span>Charts by</span>
          <select
            name="by"
            value={stack?.[0] ?? ''}
            onChange={({ currentTarget: { value } }) => setFilters({ by: value })}
          >
            <option value="">nothing</option>
            {STACKS.map(([name, words]) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
          </select>
        </label>
        {stack === undefined ? (
          <PlainCharts report={report} />
        ) : (
          <StackedCharts query={query} by={stack} />
        )}
      </section>
    </>
  );
}

/** A series of sums or measurements, with its total for the range. */
type ChartLine = readonly [
  name: string,
  color: string,
  value: (step: ReportJson['series'][number]) => number | null,
  total: number | null,
];

function PlainCharts({ report }: { readonly report: ReportJson }) {
  const charts = useMemo(() => {
    const full = seriesOf(report);
    const { totals, latency } = report;
    const chart = (
      title: string,
      shape: Series['shape'],
      show: (value: number | null) => string,
      lines: readonly ChartLine[],
    ) => ({
      title,
      show,
      times: full.times,
      stepSeconds: full.stepSeconds,
      series: lines.map(([name, color, value, total]) => ({
        name,
        color,
        shape,
        isFilled: shape === 'steps' && color !== 'dim',
        // A step without requests costs nothing but has no measured time.
        values: full.values(value, shape === 'line' ? null : 0),
        summary: show(total),
      })),
    });
    return [
      chart('Cost', 'steps', dollars, [
        ['without svc', 'dim', (step) => step.cost_without, totals.cost_without],
        ['paid', 'blue', (step) => step.cost, totals.cost],
      ]),
      chart('Input tokens', 'steps', short, [
        ['as clients sent them', 'dim', (step) => step.input_tokens, totals.input_tokens],
        ['sent on', 'mark', (step) => step.sent_input_tokens, totals.sent_input_tokens],
      ]),
      chart('Requests', 'bars', short, [
        ['all', 'violet', (step) => step.requests, totals.requests],
        ['failed', 'bad', (step) => step.errors, totals.errors],
      ]),
      chart('Time taken', 'line', duration, [
        ['p99', 'dim', (step) => step.p99_ms, latency.p99_ms],
        ['p95', 'orange', (step) => step.p95_ms, latency.p95_ms],
        ['p50', 'blue', (step) => step.p50_ms, latency.p50_ms],
      ]),
    ];
  }, [report]);
  return (
    <>
      {charts.map((chart) => (
        <Chart key={chart.title} {...chart} />
      ))}
    </>
  );
}

type By = (typeof STACKS)[number];
type Stack = StacksJson['stacks'][number];
type Figure = 'cost' | 'sent_input_tokens' | 'requests';

/** Colours for the names in a chart, in order; the last is for all others. */
const COLORS = ['blue', 'orange', 'mark', 'violet', 'warn', 'dim'];

const STACKED: readonly (readonly [
  title: string,
  figure: Figure,
  show: (value: number | null) => string,
])[] = [
  ['Cost', 'cost', dollars],
  ['Input tokens, sent on', 'sent_input_tokens', short],
  ['Requests', 'requests', short],
];

function StackedCharts({
  query,
  by: [by, words],
}: Pick<ChartsProps, 'query'> & { readonly by: By }) {
  const { value, error } = useFetched<StacksJson>(
    `${by} ${query.toString()}`,
    () => `/dashboard/api/stacks?${queryOf(query).toString()}&by=${by}`,
  );
  const charts = useMemo(() => (value === undefined ? [] : stackedOf(value, by, words)), [value]);
  return (
    <>
      <Fault text={error} />
      {charts.map((chart) => (
        <Chart key={chart.title} {...chart} isStacked />
      ))}
    </>
  );
}

function stackedOf(json: StacksJson, by: By[0], words: string) {
  const times = timesOf(
    json,
    json.stacks.flatMap(({ series }) => series),
  );
  return STACKED.map(([title, figure, show]) => ({
    title,
    show,
    times,
    stepSeconds: json.bucket_seconds,
    series: json.stacks.map((stack, index): Series => {
      const steps = new Map(
        stack.series.map((step) => [Date.parse(step.timestamp) / 1000, step[figure]]),
      );
      return {
        name: nameOf(stack, words),
        label: <StackName stack={stack} by={by} words={words} />,
        color: stack.rest ? 'dim' : (COLORS[index] ?? 'dim'),
        shape: 'bars',
        values: times.map((at) => steps.get(at) ?? 0),
        summary: show(stack[figure]),
      };
    }),
  }));
}

function nameOf({ name, rest }: Stack, words: string): string {
  return rest ? 'all others' : name === null ? `no ${words}` : orDash(name);
}

/** Links to the requests with this name. */
function StackName({
  stack,
  by,
  words,
}: {
  readonly stack: Stack;
  readonly by: By[0];
  readonly words: string;
}) {
  if (stack.rest || stack.name === null) return <>{nameOf(stack, words)}</>;
  return (
    <Link to="requests" filters={{ [by]: stack.name, by: null }} title="Its requests">
      {orDash(stack.name)}
    </Link>
  );
}
