/** What a check of `svc doctor` finds: the fact, its severity, the cause and the cure. */
import { SvcError } from '../../engine/error.ts';
import type { ErrorKind } from '../../engine/error.ts';
import type { LoadedConfig } from '../../server/config/load.ts';
import { isDiskFault, reasonOf } from '../../stages/disk-reason.ts';
import type { CliContext } from '../context.ts';

/** `note` needs nobody; a `warning` may hurt later; a `fault` hurts now. */
export type Level = 'ok' | 'note' | 'warning' | 'fault';

export interface Finding {
  /** What was looked at, in a word or two. */
  readonly check: string;
  readonly level: Level;
  /** What is so, and why it matters where it is not well. */
  readonly text: string;
  readonly cure?: string;
  /** For a fault: what makes the exit code. */
  readonly kind?: ErrorKind;
  /** Mends it without losing anything; absent where a person has to decide. */
  readonly fix?: () => void;
}

/** What a check finds: one thing, several or nothing. */
export type Found = Finding | readonly Finding[];

/** What checks may use. */
export interface Examined {
  readonly context: CliContext;
  readonly home: string;
  /** Undefined where the configuration is wrong. */
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
 * What `look` finds. Where a file cannot be used, that is what was found: one that is damaged hides
 * none of the other checks.
 */
export async function orFault(check: string, look: () => Found | Promise<Found>): Promise<Found> {
  try {
    return await look();
  } catch (thrown) {
    const cure = 'Mend it, or move it away: svc begins anew without it.';
    if (thrown instanceof SvcError)
      return fault(check, thrown.kind, thrown.message, thrown.cure ?? cure);
    if (!isDiskFault(thrown)) throw thrown;
    const what = thrown.path === undefined ? '' : `${thrown.path}: `;
    return fault(check, 'config', `${what}${reasonOf(thrown)}`, cure);
  }
}

const ORDER: readonly Level[] = ['ok', 'note', 'warning', 'fault'];

/** The worst of the findings; the first of equal ones. Undefined without any. */
export function worstOf(findings: readonly Finding[]): Finding | undefined {
  return findings.toSorted((a, b) => ORDER.indexOf(b.level) - ORDER.indexOf(a.level))[0];
}
