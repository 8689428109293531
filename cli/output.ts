/**
 * How results and remarks are printed: results on stdout, everything else on
 * stderr; colour only on a terminal that wants it.
 */
import type { Writable } from 'node:stream';
import pc from 'picocolors';
import type { BaseContext } from 'clipanion';
import type { SvcError } from '../engine/error.ts';

/** Functions that colour a text, or leave it as it is. */
export type Colors = ReturnType<typeof pc.createColors>;

/** True when the stream is a terminal. */
export function isTerminal(stream: Writable): boolean {
  return 'isTTY' in stream && stream.isTTY === true;
}

/** Colours for `stream`: none off a terminal, none with `NO_COLOR`, none on a dumb one. */
export function colorsFor(stream: Writable, env: BaseContext['env']): Colors {
  const isUnwanted = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  return pc.createColors(isTerminal(stream) && !isUnwanted);
}

/** One line of a result. */
export function print(context: BaseContext, line = ''): void {
  context.stdout.write(`${line}\n`);
}

/** A result as JSON, indented by two. */
export function printJson(context: BaseContext, value: unknown): void {
  context.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}

/** A remark that is no result. */
export function note(context: BaseContext, line: string): void {
  context.stderr.write(`${line}\n`);
}

/** Cause and cure, on stderr. */
export function printError(context: BaseContext, error: SvcError): void {
  const colors = colorsFor(context.stderr, context.env);
  context.stderr.write(`${colors.red('error:')} ${error.message}\n`);
  if (error.cure !== undefined) context.stderr.write(`${error.cure}\n`);
}

/** Names and values in two columns, as remarks or results are laid out everywhere. */
export function pairs(
  colors: Colors,
  rows: readonly (readonly [name: string, value: string])[],
): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `  ${colors.dim(name.padEnd(width))}  ${value}`);
}

/** `1 request`, `2 requests`, `1,234 requests`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}
