/** Keys that work on the whole page, as those of the dashboard in a terminal do. */
import { useEffect, useRef } from 'preact/hooks';

/** How long `g` waits for its letter. */
const PAUSE_MS = 1500;

/** The letter or sign of a key that is pressed alone, outside of what is typed into or chosen from. */
export function letterOf(event: KeyboardEvent): string | undefined {
  const { key, target } = event;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return undefined;
  if (key.length !== 1) return undefined;
  const isTyped = target instanceof Element && target.matches('input, select, textarea');
  return isTyped ? undefined : key;
}

/** What keys do, by the letter; those after a `g` by `g` and the letter. Of `false` nothing was done. */
export type KeyActions = Readonly<Record<string, (() => boolean | void) | undefined>>;

/** Follows the keys of the whole page. */
export function useKeys(actions: KeyActions): void {
  const present = useRef(actions);
  present.current = actions;
  useEffect(() => {
    let before = '';
    let beforeAtMs = 0;
    const listen = (event: KeyboardEvent): void => {
      const letter = letterOf(event);
      if (letter === undefined) return;
      const isSecond = before === 'g' && performance.now() - beforeAtMs < PAUSE_MS;
      const name = isSecond ? `g${letter}` : letter;
      before = isSecond ? '' : letter;
      beforeAtMs = performance.now();
      const act = present.current[name];
      if (act !== undefined && act() !== false) event.preventDefault();
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, []);
}
