/** What `svc demo` shows of the session that it played. */
import type { Colors } from './output.ts';
import { counted, dollars, figure, pairs } from './output.ts';
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

/** What a title keeps on however narrow a screen. */
const LEAST_TITLE = 10;

/**
 * A row a request: what happened, tokens, cost, milliseconds in each stage,
 * outcome. Titles are cut to what `columns` leave of them.
 */
export function demoTable(turns: readonly PlayedTurn[], columns: number) {
  const nodes = [...new Set(turns.flatMap((turn) => stagesOf(turn).map(({ node }) => node)))];
  const savesTokens = turns.some(({ row }) => typeof row['tokens_saved'] === 'number');
  const columnsOfTokens = ['>in', ...(savesTokens ? ['>saved'] : []), '>out', '>cost'];
  const head = ['turn', ...columnsOfTokens, ...nodes.map((node) => `>${node}`), 'outcome'];
  const figures = turns.map((turn) => {
    const stages = stagesOf(turn);
    return [
      figure(turn.row['input_tokens']),
      ...(savesTokens ? [figure(turn.row['tokens_saved'])] : []),
      figure(turn.row['output_tokens']),
      dollars(turn.row['cost']),
      ...nodes.map((node) => milliseconds(stages.find((stage) => stage.node === node)?.ms)),
      String(turn.row['outcome']),
    ];
  });
  const taken = head
    .slice(1)
    .map((name, column) =>
      Math.max(name.replace('>', '').length, ...figures.map((row) => row[column]?.length ?? 0)),
    );
  const rest = columns - 3 - taken.reduce((sum, width) => sum + width + 2, 0);
  const rows = turns.map(({ title }, index) => [
    `${String(index + 1).padStart(2)} ${cut(title, Math.max(LEAST_TITLE, rest))}`,
    ...(figures[index] ?? []),
  ]);
  return { head, rows };
}

/** Totals, and where to go next. */
export function demoLines(
  model: string,
  turns: readonly PlayedTurn[],
  colors: Colors,
  program: string,
): string[] {
  const total = totals(turns);
  const saved = total.savedTokens === null ? '' : ` (${figure(total.savedTokens)} of them saved)`;
  const sum = `${figure(total.inputTokens)} tokens in${saved}, ${figure(total.outputTokens)} out`;
  return [
    '',
    `${counted(total.requests, 'request')} to ${model}: ${sum}, ${dollars(total.costUsd)} by the price list (nothing was charged).`,
    `Stage columns are milliseconds; all but forward took ${milliseconds(total.ownMsMedian)} ms of a request (median).`,
    '',
    colors.bold('Next'),
    ...pairs(colors, [
      [`${program} serve`, 'the proxy itself; it says how to point a client at it'],
      [`${program} config init`, 'a file with every setting'],
      [`${program} --help`, 'everything else'],
    ]),
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
      saved_tokens: total.savedTokens,
      tokens_added: total.addedTokens,
      net_tokens_saved: total.savedTokens === null ? null : total.savedTokens - total.addedTokens,
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
    savedTokens: sum('tokens_saved'),
    addedTokens: turns.reduce((tokens, { row }) => tokens + addedTokens(row), 0),
    outputTokens: sum('output_tokens'),
    costUsd: sum('cost'),
    ownMsMedian: own[Math.floor(own.length / 2)] ?? 0,
  };
}

/** A request to which nothing was added says nothing of it. */
function addedTokens(row: Json): number {
  const tokens = (row['vault_injection'] as Json | undefined)?.['tokens_added'];
  return typeof tokens === 'number' ? tokens : 0;
}

function stagesOf({ trace }: PlayedTurn): Stage[] {
  const stages = (trace['stages'] ?? []) as readonly Json[];
  return stages.map((stage) => ({
    name: String(stage['name']),
    node: String(stage['node']),
    ms: Number(stage['duration_ms']),
  }));
}

function cut(title: string, most: number): string {
  return title.length > most ? `${title.slice(0, most - 1)}…` : title;
}

function milliseconds(value: number | undefined): string {
  return value === undefined ? '–' : value.toFixed(value < 10 ? 2 : 0);
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
