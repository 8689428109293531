/**
 * What a key may do beyond asking a provider. Some request headers loosen a limit that the owner of
 * this machine has set: here they are the owner's own, from elsewhere they count where the key was
 * made with the right to them (`svc auth --generate --may`; decisions §6).
 */
import { ALLOW_HEADER } from '../../stages/budget/estimate.ts';
import { CAPTURE_HEADER } from '../../stages/captures/files.ts';
import { MACRO_HEADER } from '../../stages/macros/settings.ts';

export const RIGHTS = ['allow-spend', 'capture', 'bypass', 'macro'] as const;
export type Right = (typeof RIGHTS)[number];
export type Rights = readonly Right[];

/** The header that each right is about. */
const HEADER_OF: Readonly<Record<Right, string>> = {
  'allow-spend': ALLOW_HEADER,
  capture: CAPTURE_HEADER,
  bypass: 'x-svc-bypass',
  macro: MACRO_HEADER,
};

export function isRight(value: unknown): value is Right {
  return RIGHTS.some((right) => right === value);
}

/**
 * The headers that do not count from somebody who may do `may`. With `guarded` a plugin has a stage
 * in the graph, which `x-svc-bypass` would get past; without one the header only costs savings, and
 * everybody may send it.
 */
export function headersBeyond(may: Rights, guarded: boolean): readonly string[] {
  return RIGHTS.filter((right) => !may.includes(right) && (right !== 'bypass' || guarded)).map(
    (right) => HEADER_OF[right],
  );
}
