/** The report of `svc demo` on the session that it played. */
import type { Colors } from './output.ts';
import { counted, dollars, figure, pairs, percent } from './output.ts';
import type { Json } from '../remote.ts';
import { stageDescription } from './stage-legend.ts';

/** One turn that went through the proxy. Times are milliseconds, measured at the client. */
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
  /** Its name in the graph. */
  readonly node: string;
  readonly ms: number;
}

const TOKEN_HEADERS = ['>in', '>sent', '>saved', '>out', '>cost'];

/** Returns one row per request: event, tokens, cost, and the outcome of failures. */
export function demoTable(turns: readonly PlayedTurn[]) {
  const isAllOk = turns.every(({ row }) => row['outcome'] === 'ok');
  const rows = turns.map(({ title, row }, index) => [
    `${String(index + 1).padStart(2)} ${title}`,
    figure(row['input_tokens']),
    figure(row['sent_input_tokens']),
    figure(row['tokens_saved']),
    figure(row['output_tokens']),
    dollars(row['cost']),
    ...(isAllOk ? [] : [String(row['outcome'])]),
  ]);
  return { header: ['turn', ...TOKEN_HEADERS, ...(isAllOk ? [] : ['outcome'])], rows };
}

/** Returns one row per stage: median and longest time in milliseconds, and its purpose. */
export function stageTable(turns: readonly PlayedTurn[]) {
  const stages = turns.flatMap((turn) => stagesOf(turn));
  const rows = [...new Set(stages.map(({ node }) => node))].map((node) => {
    const times = stages.filter((stage) => stage.node === node).map(({ ms }) => ms);
    const sorted = times.toSorted((a, b) => a - b);
    const middle = sorted[Math.floor(sorted.length / 2)];
    return [node, milliseconds(middle), milliseconds(sorted.at(-1)), stageDescription(node)];
  });
  return { header: ['stage', '>median ms', '>most ms', ''], rows };
}

/** Returns the totals, and the next steps. */
export function demoLines(
  model: string,
  turns: readonly PlayedTurn[],
  colors: Colors,
  program: string,
): string[] {
  const total = totals(turns);
  const sum = `${figure(total.inputTokens)} tokens in, ${figure(total.outputTokens)} out`;
  return [
    '',
    `${counted(total.requests, 'request')} to ${model}: ${sum}, ${dollars(total.costUsd)} by the price list (nothing was charged).`,
    `svc itself took ${milliseconds(total.ownMsMedian)} ms of a request (median): all stages but forward.`,
    '',
    colors.bold('Next'),
    ...pairs(colors, [
      [`${program} serve`, 'the proxy itself; it shows how to connect a client'],
      [`${program} config init`, 'a file with every setting'],
      [`${program} --help`, 'everything else'],
    ]),
    '',
    colors.bold(savedLine(turns)),
  ];
}

/** Describes what compression saved in the session, in tokens and dollars. */
function savedLine(turns: readonly PlayedTurn[]): string {
  const sum = (name: string) =>
    turns.reduce((all, { row }) => all + (typeof row[name] === 'number' ? row[name] : 0), 0);
  const [tokens, all] = [sum('tokens_saved'), sum('input_tokens')];
  const [saved, cost] = [sum('cost_saved'), sum('cost')];
  const share = percent(all === 0 ? null : tokens / all);
  return `Saved ${figure(tokens)} of ${figure(all)} input tokens (${share}) and ${dollars(saved)} of ${dollars(cost + saved)}.`;
}

/** Returns the JSON of `svc demo --json`. */
export function demoJson(model: string, turns: readonly PlayedTurn[], lanes: Json) {
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
    lanes,
  };
}

function totals(turns: readonly PlayedTurn[]) {
  const sum = (name: string) => {
    const values = turns.map(({ row }) => row[name]);
    // An unmeasured value makes the sum unknown, not smaller.
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

/** The row of a request without added text lacks this field. */
function addedTokens(row: Json): number {
  const tokens = (row['vault_injection'] as Json | undefined)?.['tokens_added'];
  return typeof tokens === 'number' ? tokens : 0;
}

function stagesOf({ trace }: PlayedTurn): Stage[] {
  const stages = (trace['stages'] ?? []) as readonly Json[];
  return stages.map((stage) => ({
    node: String(stage['node']),
    ms: Number(stage['duration_ms']),
  }));
}

function milliseconds(value: number | undefined): string {
  return value === undefined ? '–' : value.toFixed(value < 10 ? 2 : 0);
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
