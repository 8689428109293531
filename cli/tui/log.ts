/** The live log, newest first. */
import { NO_LINES, fieldsOf, parsed } from '../../server/dashboard/page/log-line.ts';
import type { Colors } from '../screen/colors.ts';
import { wrap } from '../screen/fit.ts';
import { localTime } from '../../server/dashboard/page/local-time.ts';
import { withUserCommands } from '../screen/output.ts';
import { withoutControls } from './grid.ts';
import type { Model } from './model.ts';

export function logView(model: Model, width: number, colors: Colors): string[] {
  const { logLines, nowMs } = model;
  if (logLines.length === 0) return wrap(withUserCommands(NO_LINES, model), width);
  return logLines.toReversed().flatMap((text) => {
    const line = parsed(text);
    const { level = 'info', msg = '', requestId } = line;
    const paint = level === 'error' ? colors.red : level === 'warning' ? colors.yellow : undefined;
    const words = [msg, requestId ?? '', fieldsOf(line)].filter((part) => part !== '').join(' ');
    const prefix = `${localTime(line.time, nowMs)} ${withoutControls(level).padEnd(7)} `;
    return wrap(`${prefix} ${withoutControls(words)}`, width).map((one) => paint?.(one) ?? one);
  });
}
