/**
 * Prints the line. Missing or invalid data never causes an error: a failing statusline is blank,
 * without any explanation for the user.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { resolveHome } from '../../server/config/home.ts';
import { statusPath } from '../../server/statusline/status.ts';
import { numberOf } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { figuresOf } from './figures.ts';
import { SESSION_FORMAT, TODAY_FORMAT, statusLine } from './line.ts';
import type { ShownIn } from './line.ts';
import { MAX_CHARS, parsed } from './read-input.ts';

export interface StatuslineOptions {
  /** Default: one template for a client's session, another one without a client. */
  readonly format: string | undefined;
  readonly shownIn: ShownIn;
  readonly hasColors: boolean;
  /** Columns; default: the client's `COLUMNS`, else unlimited. */
  readonly width: number | undefined;
}

/** What it needs of the process. */
export interface StatuslineContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly userHome: string;
  readonly cwd: string;
  readonly nowMs: number;
  /** Resolves with what the client wrote; empty without a client. */
  input(): Promise<string>;
}

/** Returns the line with its line end. Never rejects. */
export async function statuslineText(
  { format, shownIn, hasColors, width }: StatuslineOptions,
  where: StatuslineContext,
): Promise<string> {
  try {
    const { env, userHome, cwd, nowMs } = where;
    const client = parsed(await where.input());
    const status = readStatus(resolveHome(env, userHome, cwd));
    const figures = figuresOf(client, status, { nowMs, isRunning: isAlive(status['pid']) });
    const isSession = client !== undefined;
    const line = statusLine(figures, {
      format: format ?? (isSession ? SESSION_FORMAT : TODAY_FORMAT),
      shownIn,
      hasColors: hasColors && (env['NO_COLOR'] ?? '') === '',
      width: width ?? (Number(env['COLUMNS']) || Number.POSITIVE_INFINITY),
      nowMs,
    });
    // Before the first request nothing is known, and an empty line would look like a failure.
    return `${line === '' && format === undefined ? 'svc' : line}\n`;
  } catch {
    return 'svc\n';
  }
}

function readStatus(home: string): JsonObject {
  try {
    return parsed(readBounded(statusPath(home))) ?? {};
  } catch {
    return {};
  }
}

/**
 * Returns the text of a small file; throws for anything else. A pipe in its place would never end.
 */
function readBounded(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > MAX_CHARS) throw new RangeError('no status');
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

function isAlive(pid: unknown): boolean {
  const known = numberOf(pid);
  if (known === undefined || !Number.isInteger(known) || known <= 0) return false;
  try {
    return process.kill(known, 0);
  } catch (thrown) {
    // Another user's process exists too.
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM';
  }
}
