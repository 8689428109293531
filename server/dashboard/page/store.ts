/** Values outside of components, and how a component follows one. */
import { useEffect, useState } from 'preact/hooks';

export interface Store<T> {
  get(): T;
  set(value: T): void;
  /** Calls `listener` after each change; the returned function ends that. */
  watch(listener: () => void): () => void;
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

/** The present value of something that tells when it changes. */
export function useWatched<T>(watch: (listener: () => void) => () => void, get: () => T): T {
  const [value, setValue] = useState(get);
  useEffect(() => {
    setValue(get);
    return watch(() => setValue(get));
  }, []);
  return value;
}

export function useStore<T>(store: Store<T>): T {
  return useWatched(
    (listener) => store.watch(listener),
    () => store.get(),
  );
}
