/** Prometheus's text format, version 0.0.4: families of series with their help and type. */
import type { HistogramView } from '../../stages/ledger/histogram.ts';

export type Labels = Readonly<Record<string, string>>;

/** One family. `null` values were not measured and are left out. */
export type Family =
  | {
      readonly name: string;
      readonly help: string;
      readonly type: 'counter' | 'gauge';
      readonly series: readonly { readonly labels?: Labels; readonly value: number | null }[];
    }
  | {
      readonly name: string;
      readonly help: string;
      readonly type: 'histogram';
      readonly series: readonly { readonly labels: Labels; readonly view: HistogramView }[];
    };

/** A counter or gauge without labels. */
export function single(
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  value: number | null,
): Family {
  return { type, name, help, series: [{ value }] };
}

/** Returns the families as text; one without a measured series is left out. */
export function metricsText(families: readonly Family[]): string {
  return families.map(familyText).join('');
}

function familyText(family: Family): string {
  const { name, help, type } = family;
  const lines =
    family.type === 'histogram'
      ? family.series.flatMap(({ labels, view }) => histogramLines(name, labels, view))
      : family.series.flatMap(({ labels = {}, value }) =>
          value === null ? [] : [`${name}${labelText(labels)} ${numberText(value)}`],
        );
  if (lines.length === 0) return '';
  const escaped = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `# HELP ${name} ${escaped}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`;
}

function histogramLines(name: string, labels: Labels, view: HistogramView): string[] {
  const bucket = (le: string, count: number) =>
    `${name}_bucket${labelText({ ...labels, le })} ${numberText(count)}`;
  return [
    ...view.bounds.map((bound, index) => bucket(numberText(bound), view.counts[index] ?? 0)),
    bucket('+Inf', view.count),
    `${name}_sum${labelText(labels)} ${numberText(view.sum)}`,
    `${name}_count${labelText(labels)} ${numberText(view.count)}`,
  ];
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** Client-supplied names may contain anything; a label is UTF-8 with three characters escaped. */
function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  return String(value);
}
