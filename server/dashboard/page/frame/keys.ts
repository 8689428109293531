/** Page-wide keyboard shortcuts, as in the terminal dashboard. */
import { useEffect, useRef } from 'preact/hooks';

/** How long `g` waits for the second key. */
const PAUSE_MS = 1500;

/**
 * Returns the character of a key pressed without modifiers and outside form fields; else undefined.
 */
export function letterOf(event: KeyboardEvent): string | undefined {
  const { key, target } = event;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return undefined;
  if (key.length !== 1) return undefined;
  const isTyped = target instanceof Element && target.matches('input, select, textarea');
  return isTyped ? undefined : key;
}

/**
 * Actions by key, or by `g` and key for the second key of a pair. `false` means that nothing was
 * done.
 */
export type KeyActions = Readonly<Record<string, (() => boolean | void) | undefined>>;

/** Runs `actions` for keys pressed anywhere on the page. */
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
