/** One request: its figures, its stages on a timeline, and the attempts at providers. */
import type { RequestJson, Trace } from '../../server/dashboard/contract.ts';
import { ATTEMPT_COLUMNS } from '../../server/dashboard/page/requests/columns.ts';
import { duration, orDash } from '../../server/dashboard/page/format.ts';
import {
  NO_STAGES,
  injectionWords,
  modelOf,
  outcomeOf,
  outcomeTone,
  providerMessages,
  requestFacts,
} from '../../server/dashboard/page/request/request-facts.ts';
import {
  extentOf,
  lengthOf,
  nameOf,
  notesOf,
} from '../../server/dashboard/page/charts/stage-times.ts';
import type { Colors } from '../screen/colors.ts';
import { cut, widthOf, wrap } from '../screen/fit.ts';
import { localMoment } from '../../server/dashboard/page/local-time.ts';
import { withUserCommands } from '../screen/output.ts';
import { facts, grid, withoutControls, paintOf } from './grid.ts';
import type { Model } from './model.ts';

const MAX_NAME = 18;
const TIME_WIDTH = 9;

export function requestDetail(model: Model, width: number, colors: Colors): string[] {
  const { detail } = model;
  if (detail === undefined) return [];
  const { id, json, error } = detail;
  if (error !== undefined) return wrap(colors.red(withoutControls(error)), width);
  if (json === undefined) return ['Loading…'];
  const { request, trace } = json;
  const lines = [
    request === null
      ? colors.bold(withoutControls(orDash(trace?.model)))
      : `${colors.bold(withoutControls(modelOf(request)))}  ${paintOf(outcomeTone(request), colors)(outcomeOf(request))}`,
    colors.dim(
      request === null
        ? withoutControls(id)
        : `${withoutControls(id)}  ${localMoment(request.timestamp)}  ${withoutControls(request.endpoint)}`,
    ),
  ];
  if (trace?.error !== undefined && trace.error !== null)
    lines.push(...wrap(withoutControls(trace.error), width).map(colors.red));
  const reason = trace === null ? undefined : providerMessages(trace).reason;
  if (reason !== undefined) lines.push(...wrap(withoutControls(reason), width).map(colors.red));
  if (request !== null) lines.push('', ...figures(request, colors));
  lines.push('');
  if (trace === null) lines.push(NO_STAGES);
  else lines.push(...waterfall(trace, width, colors), ...attempts(trace, width, colors));
  if (request !== null && (request.tokens_saved ?? 0) > 0)
    lines.push(
      '',
      withUserCommands(
        `\`svc diff ${withoutControls(id)}\` shows what compression changed.`,
        model,
      ),
    );
  return lines.flatMap((line) => wrap(line, width));
}

function figures(row: RequestJson, colors: Colors): string[] {
  const { vault_injection: injection } = row;
  const added: [string, string][] =
    injection === undefined
      ? []
      : [
          [
            'Added from the vault',
            `${injectionWords(injection)}: ${injection.top_chunks.join(', ')}`,
          ],
        ];
  return facts([...requestFacts(row), ...added], colors);
}

function waterfall(trace: Trace, width: number, colors: Colors): string[] {
  const totalMs = lengthOf(trace);
  const names = trace.stages.map((stage) => cut(withoutControls(nameOf(stage)), MAX_NAME));
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
      const notes = notesOf(stage).map(([what, value]) => `${what} ${withoutControls(value)}`);
      return [
        `${name}${' '.repeat(nameWidth - widthOf(name))}  ${(isBad ? colors.red : colors.cyan)(bar)}  ${duration(stage.duration_ms).padStart(TIME_WIDTH)}`,
        ...(notes.length === 0
          ? []
          : wrap(`    ${withoutControls(notes.join(', '))}`, width).map(colors.dim)),
      ];
    }),
  ];
}

function attempts(trace: Trace, width: number, colors: Colors): string[] {
  if (trace.attempts.length === 0) return [];
  return [
    '',
    colors.bold('Attempts at providers'),
    ...grid(ATTEMPT_COLUMNS, trace.attempts, width, colors),
    ...providerMessages(trace).other.flatMap((text) =>
      wrap(`    ${withoutControls(text)}`, width).map(colors.dim),
    ),
  ];
}
