/** What `svc demo` shows of the session that it played. */
import type { Colors } from './output.ts';
import { counted } from './output.ts';
import type { Json } from './remote.ts';

/** One turn that went through the proxy. Times are milliseconds, taken at the client. */
export interface PlayedTurn {
  readonly title: string;
  readonly status: number;
  readonly firstByteMs: number;
  readonly totalMs: number;
  readonly sizeBytes: number;
  /** The body of `/trace/<id>`. */
  readonly trace: Json;
  /** The request's row of `/recent`. */
  readonly row: Json;
}

interface Stage {
  readonly name: string;
  readonly node: string;
  readonly ms: number;
}

/** A row a request: what happened, tokens, cost, milliseconds in each stage, outcome. */
export function demoTable(turns: readonly PlayedTurn[]) {
  const nodes = [...new Set(turns.flatMap((turn) => stagesOf(turn).map(({ node }) => node)))];
  const head = [
    'turn',
    '>in',
    '>out',
    '>cost',
    ...nodes.map((node) => `>${node}`),
    '>first byte',
    'outcome',
  ];
  const rows = turns.map((turn, index) => {
    const stages = stagesOf(turn);
    return [
      `${String(index + 1).padStart(2)} ${cut(turn.title)}`,
      tokens(turn.row['input_tokens']),
      tokens(turn.row['output_tokens']),
      dollars(turn.row['cost']),
      ...nodes.map((node) => milliseconds(stages.find((stage) => stage.node === node)?.ms)),
      milliseconds(turn.firstByteMs),
      String(turn.row['outcome']),
    ];
  });
  return { head, rows };
}

/** Totals, and where to go next. */
export function demoLines(model: string, turns: readonly PlayedTurn[], colors: Colors): string[] {
  const total = totals(turns);
  return [
    '',
    `${counted(total.requests, 'request')} to ${model}: ${tokens(total.inputTokens)} tokens in, ${tokens(total.outputTokens)} out, ${dollars(total.costUsd)}.`,
    `Our stages took ${milliseconds(total.ownMsMedian)} ms of a request (median); columns are milliseconds.`,
    '',
    `${colors.bold('Next')}`,
    `  svc serve          then point a client at it: ANTHROPIC_BASE_URL=http://127.0.0.1:8766 claude`,
    `  svc config init    a file with every setting`,
    `  svc --help         everything else`,
  ];
}

/** `svc demo --json`. */
export function demoJson(model: string, turns: readonly PlayedTurn[]) {
  const total = totals(turns);
  return {
    model,
    requests: turns.map(({ title, status, firstByteMs, totalMs, sizeBytes, trace, row }) => ({
      title,
      status,
      first_byte_ms: rounded(firstByteMs),
      total_ms: rounded(totalMs),
      response_bytes: sizeBytes,
      ...row,
      trace,
    })),
    totals: {
      requests: total.requests,
      input_tokens: total.inputTokens,
      output_tokens: total.outputTokens,
      cost: total.costUsd,
      own_ms_median: rounded(total.ownMsMedian),
    },
  };
}

function totals(turns: readonly PlayedTurn[]) {
  const sum = (name: string) => {
    const values = turns.map(({ row }) => row[name]);
    // One that was not measured makes the sum unknown, not smaller.
    return values.every((value) => typeof value === 'number')
      ? values.reduce((left, right) => left + right, 0)
      : null;
  };
  const own = turns
    .map((turn) =>
      stagesOf(turn)
        .filter(({ node }) => node !== 'forward')
        .reduce((ms, stage) => ms + stage.ms, 0),
    )
    .toSorted((a, b) => a - b);
  return {
    requests: turns.length,
    inputTokens: sum('input_tokens'),
    outputTokens: sum('output_tokens'),
    costUsd: sum('cost'),
    ownMsMedian: own[Math.floor(own.length / 2)] ?? 0,
  };
}

function stagesOf({ trace }: PlayedTurn): Stage[] {
  const stages = (trace['stages'] ?? []) as readonly Json[];
  return stages.map((stage) => ({
    name: String(stage['name']),
    node: String(stage['node']),
    ms: Number(stage['duration_ms']),
  }));
}

function cut(title: string): string {
  return title.length > 34 ? `${title.slice(0, 33)}…` : title;
}

function tokens(value: unknown): string {
  return typeof value === 'number' ? value.toLocaleString('en-US') : '–';
}

function dollars(value: unknown): string {
  return typeof value === 'number' ? `$${value.toFixed(4)}` : '–';
}

function milliseconds(value: number | undefined): string {
  return value === undefined ? '–' : value.toFixed(value < 10 ? 2 : 0);
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
