/**
 * Attributes uncaught errors to code providers. A code provider runs in this process, and what it
 * leaves running (a timer, a floating promise) may throw when none of our frames is on the stack.
 * Its module and hooks therefore run in an async context that carries its name into everything that
 * they start. The context is created when the first of them runs, so that it costs nothing before.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { firstLineOf } from '../../stages/providers/hook-fault.ts';

/** One version of a provider's code; an earlier version may still have running timers. */
export interface PluginCode {
  readonly name: string;
  readonly version: string;
}

/** An uncaught error, and the code that threw it. */
export interface PluginStray {
  readonly code: PluginCode;
  /** The error in one line. */
  readonly why: string;
  readonly thrown: unknown;
}

export interface PluginWatch {
  /** Runs `work` as `code`. */
  as<T>(code: PluginCode, work: () => T): T;
  /** Runs the import of its module from `url` in the same way. */
  importing<T>(code: PluginCode, url: string, work: () => T): T;
  /**
   * Takes an uncaught error, within the process's event for it. False if it does not belong to a
   * provider.
   */
  take(thrown: unknown): boolean;
  /** Calls `listener` for each error taken, including earlier ones. */
  listen(listener: (stray: PluginStray) => void): void;
}

/** Creates the watch. It takes no errors from the process until `take` is called. */
export function createPluginWatch(): PluginWatch {
  let context: AsyncLocalStorage<PluginCode> | undefined;
  let listener: ((stray: PluginStray) => void) | undefined;
  const pending: PluginStray[] = [];
  const codeOf = new Map<string, PluginCode>();

  function as<T>(code: PluginCode, work: () => T): T {
    context ??= new AsyncLocalStorage();
    return context.run(code, work);
  }

  /** By the time the error of a microtask arrives, its context is lost. */
  function byStack(thrown: unknown): PluginCode | undefined {
    const stack = stackOf(thrown);
    for (const [url, code] of codeOf) if (stack.includes(url)) return code;
    return undefined;
  }

  return {
    as,
    importing(code, url, work) {
      codeOf.set(url, code);
      return as(code, work);
    },
    take(thrown) {
      const code = context?.getStore() ?? byStack(thrown);
      if (code === undefined) return false;
      const stray = { code, why: firstLineOf(thrown), thrown };
      if (listener === undefined) pending.push(stray);
      else listener(stray);
      return true;
    },
    listen(onStray) {
      listener = onStray;
      for (const stray of pending.splice(0)) onStray(stray);
    },
  };
}

function stackOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.stack) : '';
  } catch {
    return '';
  }
}
