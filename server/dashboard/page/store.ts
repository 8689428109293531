/** Observable values outside of components, and a hook to follow them. */
import { useEffect, useState } from 'preact/hooks';

export interface Store<T> {
  readonly get: () => T;
  readonly set: (value: T) => void;
  /** Calls `listener` after each change; the returned function unsubscribes. */
  readonly watch: (listener: () => void) => () => void;
}

export function createStore<T>(first: T): Store<T> {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Returns the current value of a store and renders again when it changes. */
export function useStore<T>({ get, watch }: Store<T>): T {
  const [value, setValue] = useState(get);
  useEffect(() => {
    setValue(get);
    return watch(() => setValue(get));
  }, []);
  return value;
}
