/** Formats lengths of time for people. */
import { NONE, isNumber } from './amounts.ts';

/** Returns `45 s`, `12 min`, `3 h 5 min` or `2 d 4 h`; a dash for none. */
export function spanOf(seconds: number | null | undefined): string {
  if (!isNumber(seconds)) return NONE;
  const s = Math.floor(seconds);
  if (s < 60) return `${s} s`;
  const [large, small, units] =
    s < 3600
      ? [Math.floor(s / 60), s % 60, ['min', 's']]
      : s < 86_400
        ? [Math.floor(s / 3600), Math.floor((s % 3600) / 60), ['h', 'min']]
        : [Math.floor(s / 86_400), Math.floor((s % 86_400) / 3600), ['d', 'h']];
  return small === 0 ? `${large} ${units[0]}` : `${large} ${units[0]} ${small} ${units[1]}`;
}
