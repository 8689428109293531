/**
 * What a key may do besides using providers. Some request headers override a limit set by the owner
 * of this machine: locally the sender is the owner, from elsewhere the header counts only if the
 * key has the right to it (`svc auth --generate --may`; decisions §6).
 */
import { ALLOW_HEADER } from '../../stages/budget/estimate.ts';
import { CAPTURE_HEADER } from '../../stages/captures/files.ts';
import { MACRO_HEADER } from '../../stages/macros/settings.ts';

export const RIGHTS = ['allow-spend', 'capture', 'bypass', 'macro'] as const;
export type Right = (typeof RIGHTS)[number];
export type Rights = readonly Right[];

/** The header that each right permits. */
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
 * Returns the headers to ignore from a sender with the rights `may`. `guarded` means that a plugin
 * has a stage in the graph, which `x-svc-bypass` would skip; otherwise that header only costs
 * savings, and any sender may use it.
 */
export function headersBeyond(may: Rights, guarded: boolean): readonly string[] {
  return RIGHTS.filter((right) => !may.includes(right) && (right !== 'bypass' || guarded)).map(
    (right) => HEADER_OF[right],
  );
}
