/** A finding of `svc doctor`: the fact, its severity, the cause and the cure. */
import { SvcError } from '../../engine/error.ts';
import type { ErrorKind } from '../../engine/error.ts';
import type { LoadedConfig } from '../../server/config/load.ts';
import { isDiskFault, reasonOf } from '../../stages/disk-reason.ts';
import type { CliContext } from '../context.ts';

/** A `note` needs no action; a `warning` may become a problem; a `fault` is one now. */
export type Level = 'ok' | 'note' | 'warning' | 'fault';

export interface Finding {
  /** What was checked, in a word or two. */
  readonly check: string;
  readonly level: Level;
  /** The fact and, if it is a problem, why it matters. */
  readonly text: string;
  readonly cure?: string;
  /** For a fault: determines the exit code. */
  readonly kind?: ErrorKind;
  /** Fixes the problem without losing data; absent if a person has to decide. */
  readonly fix?: () => void;
}

/** Result of a check: one finding, several or none. */
export type Found = Finding | readonly Finding[];

/** Input of the checks. */
export interface Examined {
  readonly context: CliContext;
  readonly home: string;
  /** Undefined if the configuration is invalid. */
  readonly loaded: LoadedConfig | undefined;
}

export const ok = (check: string, text: string): Finding => ({ check, level: 'ok', text });

export const remark = (check: string, text: string, cure?: string): Finding => ({
  check,
  level: 'note',
  text,
  ...(cure !== undefined && { cure }),
});

export const warning = (check: string, text: string, cure: string, fix?: () => void): Finding => ({
  check,
  level: 'warning',
  text,
  cure,
  ...(fix !== undefined && { fix }),
});

export const fault = (check: string, kind: ErrorKind, text: string, cure: string): Finding => ({
  check,
  level: 'fault',
  kind,
  text,
  cure,
});

/**
 * Returns the findings of `examine`. An unusable file becomes a finding itself, so that it does not
 * hide the other checks.
 */
export async function findingsOrFault(
  check: string,
  examine: () => Found | Promise<Found>,
): Promise<Found> {
  try {
    return await examine();
  } catch (thrown) {
    const cure = 'Fix it, or move it away: svc starts without it.';
    if (thrown instanceof SvcError)
      return fault(check, thrown.kind, thrown.message, thrown.cure ?? cure);
    if (!isDiskFault(thrown)) throw thrown;
    const what = thrown.path === undefined ? '' : `${thrown.path}: `;
    return fault(check, 'config', `${what}${reasonOf(thrown)}`, cure);
  }
}

const ORDER: readonly Level[] = ['ok', 'note', 'warning', 'fault'];

/** Returns the worst finding; the first of equal ones. Undefined if there are none. */
export function worstOf(findings: readonly Finding[]): Finding | undefined {
  return findings.toSorted((a, b) => ORDER.indexOf(b.level) - ORDER.indexOf(a.level))[0];
}
