/** One request: its figures, its stages on one line of time, and the attempts at providers. */
import type { RequestJson, Trace } from '../../server/dashboard/contract.ts';
import {
  dollars,
  duration,
  moment,
  orDash,
  percent,
  short,
  whole,
} from '../../server/dashboard/page/format.ts';
import { extentOf, lengthOf, notesOf } from '../../server/dashboard/page/stage-times.ts';
import type { Colors } from '../colors.ts';
import { cut, widthOf, wrap } from '../fit.ts';
import { spoken } from '../output.ts';
import { facts, grid, inert } from './grid.ts';
import type { Model } from './model.ts';
import { modelOf, outcomeOf } from './requests.ts';

const MOST_NAME = 18;
const TIME_WIDTH = 9;

export function requestDetail(model: Model, width: number, colors: Colors): string[] {
  const { detail } = model;
  if (detail === undefined) return [];
  const { id, answer, error } = detail;
  if (error !== undefined) return wrap(colors.red(inert(error)), width);
  if (answer === undefined) return ['Loading…'];
  const { request, trace } = answer;
  const lines = [
    request === null
      ? colors.bold(inert(orDash(trace?.model)))
      : `${colors.bold(inert(modelOf(request)))}  ${(request.failed ? colors.red : colors.green)(outcomeOf(request))}`,
    colors.dim(
      request === null
        ? inert(id)
        : `${inert(id)}  ${moment(request.timestamp)}  ${inert(request.endpoint)}`,
    ),
  ];
  if (trace?.error !== undefined && trace.error !== null)
    lines.push(...wrap(inert(trace.error), width).map(colors.red));
  if (request !== null) lines.push('', ...figures(request, colors));
  lines.push('');
  if (trace === null)
    lines.push('Its stages are kept no more: those of the newest 200 requests are.');
  else lines.push(...waterfall(trace, width, colors), ...attempts(trace, width, colors));
  if (request !== null && (request.tokens_saved ?? 0) > 0)
    lines.push('', spoken(`\`svc diff ${inert(id)}\` shows what compression changed.`, model));
  return lines.flatMap((line) => wrap(line, width));
}

function figures(row: RequestJson, colors: Colors): string[] {
  const { input_tokens: raw, tokens_saved: saved, vault_injection: injection } = row;
  const part = raw === null || raw === 0 || saved === null ? null : (100 * saved) / raw;
  return facts(
    [
      [
        'Input',
        `${whole(raw)} tokens, ${whole(row.sent_input_tokens)} sent, ${whole(saved)} saved (${percent(part)})`,
      ],
      ['Output', `${whole(row.output_tokens)} tokens${row.usage_estimated ? ', estimated' : ''}`],
      ['Paid', `${dollars(row.cost)}, ${dollars(row.cost_without)} without svc`],
      [
        'Prompt cache',
        `${short(row.provider_cache_read_tokens)} read, ${short(row.provider_cache_creation_tokens)} written`,
      ],
      ['Time', `${duration(row.latency_ms)}, first byte after ${duration(row.ttfb_ms)}`],
      [
        'Provider',
        `${orDash(row.provider)}${row.attempts > 1 ? `, ${row.attempts} attempts` : ''}`,
      ],
      ['Agent', `${orDash(row.client)}, mode ${orDash(row.mode)}`],
      ...(injection === undefined
        ? []
        : [
            [
              'From the vault',
              `${whole(injection.chunks_injected)} pieces, ${whole(injection.tokens_added)} tokens: ${injection.top_chunks.join(', ')}`,
            ] as const,
          ]),
    ],
    colors,
  );
}

function waterfall(trace: Trace, width: number, colors: Colors): string[] {
  const totalMs = lengthOf(trace);
  const names = trace.stages.map((stage) => cut(inert(stage.name), MOST_NAME));
  const nameWidth = Math.max(6, ...names.map(widthOf));
  const track = Math.max(4, width - nameWidth - TIME_WIDTH - 4);
  return [
    `${colors.bold('Stages')}  ${duration(trace.duration_ms)} in all`,
    ...trace.stages.flatMap((stage, index) => {
      const [start, end] = extentOf(stage);
      const left = Math.min(track - 1, Math.floor((track * start) / totalMs));
      const length = Math.max(
        1,
        Math.min(track - left, Math.round((track * (end - start)) / totalMs)),
      );
      const isBad = 'error' in stage;
      const bar = `${'·'.repeat(left)}${(isBad ? '×' : '█').repeat(length)}${'·'.repeat(track - left - length)}`;
      const name = names[index]!;
      const notes = notesOf(stage).map(([what, value]) => `${what} ${inert(value)}`);
      return [
        `${name}${' '.repeat(nameWidth - widthOf(name))}  ${(isBad ? colors.red : colors.cyan)(bar)}  ${duration(stage.duration_ms).padStart(TIME_WIDTH)}`,
        ...(notes.length === 0
          ? []
          : wrap(`    ${inert(notes.join(', '))}`, width).map(colors.dim)),
      ];
    }),
  ];
}

function attempts(trace: Trace, width: number, colors: Colors): string[] {
  if (trace.attempts.length === 0) return [];
  return [
    '',
    colors.bold('Attempts at providers'),
    ...grid<Trace['attempts'][number]>(
      [
        { head: 'Provider', rank: 0, least: 8, text: (one) => one.provider },
        { head: 'Model', rank: 2, least: 10, text: (one) => orDash(one.model) },
        { head: 'Key', rank: 4, least: 8, text: (one) => one.key ?? 'the client’s, or none' },
        { head: 'Begun', isRight: true, rank: 3, text: (one) => duration(one.started_ms) },
        { head: 'Head', isRight: true, rank: 3, text: (one) => duration(one.head_ms) },
        {
          head: 'Result',
          rank: 1,
          least: 8,
          text: (one) => [one.status ?? '–', one.failure ?? ''].join(' ').trimEnd(),
          paint: (one) => (one.failure === null ? (text) => text : colors.red),
        },
      ],
      trace.attempts,
      width,
      colors,
    ),
  ];
}
