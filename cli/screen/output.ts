/**
 * Prints results on stdout and everything else on stderr, with colour only on a terminal that wants
 * it.
 */
import type { Writable } from 'node:stream';
import type { BaseContext } from 'clipanion';
import type { SvcError } from '../../engine/error.ts';
import { visible, visibleJson } from '../../server/log/visible.ts';
import { mapUncolored, createColors, forTerminal } from './colors.ts';
import type { Colors } from './colors.ts';
import type { CliContext } from '../context.ts';
import { wrap } from './fit.ts';

export { dollars, share as percent } from '../../server/words/amounts.ts';
export { counted } from '../../server/words/counted.ts';

export type { Colors } from './colors.ts';

/** True when the stream is a terminal. */
export function isTerminal(stream: Writable): boolean {
  return 'isTTY' in stream && stream.isTTY === true;
}

/** Returns the stream's width; 120 if it is not a terminal, 80 for a terminal of unknown size. */
export function columnsOf(stream: Writable): number {
  if (!('columns' in stream) || typeof stream.columns !== 'number') return 120;
  // A serial line or a container without a window reports 0 columns.
  return stream.columns > 0 ? stream.columns : 80;
}

/**
 * Returns colours for `stream`: none off a terminal, none with `NO_COLOR`, none on a dumb terminal.
 */
export function colorsFor(stream: Writable, env: BaseContext['env']): Colors {
  const isUnwanted = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  return createColors(isTerminal(stream) && !isUnwanted);
}

/**
 * Prints one line for people, like all such output: only our own colours reach the terminal, and it
 * is folded between words if the screen is too narrow.
 */
export function writeLine(stream: Writable, line: string): void {
  const painted = mapUncolored(line, visible);
  const lines = isTerminal(stream) ? wrap(painted, columnsOf(stream)) : [painted];
  stream.write(`${forTerminal(lines.join('\n'))}\n`);
}

/** Prints one line of a result. */
export function print(context: CliContext, line = ''): void {
  writeLine(context.stdout, withUserCommands(line, context));
}

/** Prints a result as JSON, indented by two. */
export function printJson(context: BaseContext, value: unknown): void {
  context.stdout.write(`${visibleJson(JSON.stringify(value, undefined, 2))}\n`);
}

/** Prints a remark on stderr. */
export function note(context: CliContext, line: string): void {
  writeLine(context.stderr, withUserCommands(line, context));
}

/** Prints cause and cure on stderr. */
export function printError(context: CliContext, error: SvcError): void {
  const colors = colorsFor(context.stderr, context.env);
  // Several faults are several indented lines: any other newline is part of a name.
  for (const line of `${colors.red('error:')} ${error.message}`.split(/\n(?= {2})/))
    note(context, line);
  if (error.cure !== undefined) note(context, error.cure);
}

/** Replaces commands in a text (`svc …` in backticks) with what this user would have to type. */
export function withUserCommands(text: string, { program }: Pick<CliContext, 'program'>): string {
  return program === 'svc' ? text : text.replaceAll('`svc ', `\`${program} `);
}

/** Returns names and values in two columns, the layout for remarks and results. */
export function pairs(
  colors: Colors,
  rows: readonly (readonly [name: string, value: string])[],
): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `  ${colors.dim(name.padEnd(width))}  ${value}`);
}

/** Prints such pairs as a result. */
export function printPairs(context: CliContext, rows: Parameters<typeof pairs>[1]): void {
  for (const line of pairs(colorsFor(context.stdout, context.env), rows)) print(context, line);
}

/** Formats a count; an unmeasured value is a dash. */
export function figure(value: unknown): string {
  return typeof value === 'number' ? value.toLocaleString('en-US') : '–';
}
