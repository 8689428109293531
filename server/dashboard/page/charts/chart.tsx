/**
 * A chart over time: lines, areas or bars, values under the pointer in its header, and a table for
 * screen readers.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { useMedia } from '../media.ts';

export interface Series {
  readonly name: string;
  /** Shown in place of the name in the header, such as a link. */
  readonly label?: ComponentChildren;
  /** Name of a CSS colour variable. */
  readonly color: string;
  readonly values: readonly (number | null)[];
  readonly isFilled?: boolean;
  /** Steps or bars for sums; a line for measurements. */
  readonly shape: 'steps' | 'bars' | 'line';
  /** Shown in the header while the pointer is elsewhere. */
  readonly summary?: string;
}

interface ChartProps {
  readonly title: string;
  /** Epoch seconds, one for each value. */
  readonly times: readonly number[];
  readonly stepSeconds: number;
  readonly series: readonly Series[];
  readonly show: (value: number | null) => string;
  /** True if the series are stacked. */
  readonly isStacked?: boolean;
}

const HEIGHT_PX = 140;

export function Chart({
  title,
  times,
  stepSeconds,
  series: allSeries,
  show,
  isStacked,
}: ChartProps) {
  const container = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const [pointed, setPointed] = useState<number | null>(null);
  const isDark = useMedia('(prefers-color-scheme: dark)');
  const series = useMemo(() => allSeries.map(toDrawable), [allSeries]);
  const shapesNow = series.map(({ shape }) => shape).join();
  const names = series.map(({ name }) => name).join();

  const data = useMemo(() => {
    const plotted = isStacked ? stackedValues(series) : series.map(({ values }) => values);
    return [
      [...times, (times.at(-1) ?? 0) + stepSeconds],
      ...plotted.map((values, at) => [...values, endOf(series[at]!.shape, values)]),
    ] as uPlot.AlignedData;
  }, [times, stepSeconds, series, isStacked]);

  useEffect(() => {
    const element = container.current!;
    const styles = getComputedStyle(document.documentElement);
    const colorOf = (name: string): string => styles.getPropertyValue(`--${name}`).trim();
    // A sum belongs to a whole time step: a sloping line would show values that never existed.
    const shapes = {
      bars: uPlot.paths.bars?.({ size: [0.9, 60], align: 1 }),
      steps: uPlot.paths.stepped?.({ align: 1 }),
      line: undefined,
    };
    const axis: uPlot.Axis = {
      stroke: colorOf('dim'),
      grid: { stroke: colorOf('soft'), width: 1 },
      ticks: { show: false },
      font: '11px system-ui, sans-serif',
    };
    const created = new uPlot(
      {
        width: Math.max(element.clientWidth, 120),
        height: HEIGHT_PX,
        padding: [10, 30, 0, 0],
        legend: { show: false },
        cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
        scales: {
          // Taken from the data, not from the arguments: with a single value those span days.
          x: { range: ({ data: [all] }) => [all[0] ?? 0, all.at(-1) ?? 0] },
          y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.08 : 1] },
        },
        axes: [
          {
            ...axis,
            size: 26,
            space: 70,
            values: (_plot, ticks) => ticks.map((at) => tickOf(at, times)),
          },
          {
            ...axis,
            size: 62,
            space: 36,
            values: (_plot, ticks) => ticks.map((value) => show(value)),
          },
        ],
        series: [
          {},
          ...series.map(({ name, color, isFilled, shape }) => ({
            label: name,
            stroke: colorOf(color),
            width: shape === 'bars' ? 0 : 1.6,
            spanGaps: false,
            // A value without neighbours makes no line and would be invisible.
            points:
              shape === 'bars'
                ? { show: false }
                : { show: true, size: 5, fill: colorOf(color), filter: isolatedPoints },
            ...(shapes[shape] !== undefined && { paths: shapes[shape] }),
            ...((isFilled === true || shape === 'bars') && {
              fill: `${colorOf(color)}${isStacked ? '' : shape === 'bars' ? 'cc' : '2e'}`,
            }),
          })),
        ],
        hooks: { setCursor: [({ cursor }) => setPointed(cursor.idx ?? null)] },
      },
      data,
      element,
    );
    plot.current = created;
    const resized = new ResizeObserver(() => {
      created.setSize({ width: Math.max(element.clientWidth, 120), height: HEIGHT_PX });
    });
    resized.observe(element);
    return () => {
      resized.disconnect();
      created.destroy();
      plot.current = undefined;
    };
  }, [isDark, names, shapesNow, stepSeconds, isStacked]);

  useEffect(() => plot.current?.setData(data), [data]);

  const index = pointed === null ? null : Math.min(pointed, times.length - 1);
  return (
    <figure class="chart">
      <figcaption>
        <h2>{title}</h2>
        <span class="quiet at">{index === null ? '' : labelOf(times[index]!)}</span>
        <ul>
          {series.map(({ name, label, color, values, summary }) => (
            <li key={name}>
              <i class={`swatch ${color}`} aria-hidden="true" />
              {label ?? name}{' '}
              <b>{index === null ? (summary ?? '') : show(values[index] ?? null)}</b>
            </li>
          ))}
        </ul>
      </figcaption>
      <div ref={container} aria-hidden="true" />
      {/* A table is as high as its rows, whatever height it is given. */}
      <div class="hidden">
        <table>
          <caption>{title}</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {series.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((at, row) => (
              <tr key={at}>
                <th scope="row">{labelOf(at)}</th>
                {series.map(({ name, values }) => (
                  <td key={name}>{show(values[row] ?? null)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

/** Turns a series with a single point, which makes no line, into bars. */
function toDrawable(series: Series): Series {
  const isOne = series.values.filter((value) => value !== null).length <= 1;
  const isStep = series.shape === 'steps' && series.values.length <= 1;
  return isStep || (series.shape === 'line' && isOne) ? { ...series, shape: 'bars' } : series;
}

/** Returns the value drawn at the end of the last step, which would otherwise have no width. */
function endOf(shape: Series['shape'], values: readonly (number | null)[]): number | null {
  return shape === 'steps' ? (values.at(-1) ?? null) : null;
}

/**
 * Returns stacked values: each series plus all after it, so that the first drawn is the highest.
 */
function stackedValues(series: readonly Series[]): number[][] {
  return series.map((_one, from) =>
    (series[0]?.values ?? []).map((_value, index) =>
      series.slice(from).reduce((sum, { values }) => sum + (values[index] ?? 0), 0),
    ),
  );
}

/** Returns the indexes of values with no neighbour to be joined with. */
function isolatedPoints(plot: uPlot, series: number): number[] {
  const values = plot.data[series] ?? [];
  const isThere = (index: number): boolean => typeof values[index] === 'number';
  return Array.from(values, (_value, index) => index).filter(
    (index) => isThere(index) && !isThere(index - 1) && !isThere(index + 1),
  );
}

const DAY_S = 86_400;

function tickOf(at: number, times: readonly number[]): string {
  const date = new Date(at * 1000);
  const span = (times.at(-1) ?? 0) - (times[0] ?? 0);
  if (span > 2 * DAY_S) return date.toLocaleDateString([], { month: 'short', day: 'numeric' });
  return date.toLocaleTimeString([], {
    hour: '2-digit',
    minute: '2-digit',
    hour12: false,
    ...(span < 600 && { second: '2-digit' }),
  });
}

function labelOf(at: number): string {
  return new Date(at * 1000).toLocaleString([], {
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hour12: false,
  });
}
