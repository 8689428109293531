/**
 * Finds out whose code threw what nobody caught. A provider that is code runs in this process,
 * and what it left running (a timer, a promise that nobody waits for) may throw when none of our
 * frames is on the stack. Its module and its hooks therefore run in a context that carries its
 * name into everything that they begin. Until the first of them runs there is no such context,
 * and then it costs nothing.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { wordsOf } from '../../stages/providers/hook-fault.ts';

/** One version of a provider's code; an earlier one may still have timers that run. */
export interface PluginCode {
  readonly name: string;
  readonly version: string;
}

/** What nobody caught, and whose code threw it. */
export interface PluginStray {
  readonly code: PluginCode;
  /** What was thrown, in one line. */
  readonly why: string;
  readonly thrown: unknown;
}

export interface PluginWatch {
  /** Runs `work` as `code`. */
  as<T>(code: PluginCode, work: () => T): T;
  /** The same for the import of its module from `url`. */
  importing<T>(code: PluginCode, url: string, work: () => T): T;
  /** Takes what nobody caught, inside the process's own event for it. False if it is no provider's. */
  take(thrown: unknown): boolean;
  /** Hears of each that was taken, those so far included. */
  listen(heard: (stray: PluginStray) => void): void;
}

/** Watches over nothing yet. Nothing is taken from the process before somebody calls `take`. */
export function createPluginWatch(): PluginWatch {
  let context: AsyncLocalStorage<PluginCode> | undefined;
  let listener: ((stray: PluginStray) => void) | undefined;
  const unheard: PluginStray[] = [];
  const codeOf = new Map<string, PluginCode>();

  function as<T>(code: PluginCode, work: () => T): T {
    context ??= new AsyncLocalStorage();
    return context.run(code, work);
  }

  /** A microtask of its own has lost the context by the time its error arrives. */
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
      const stray = { code, why: wordsOf(thrown), thrown };
      if (listener === undefined) unheard.push(stray);
      else listener(stray);
      return true;
    },
    listen(heard) {
      listener = heard;
      for (const stray of unheard.splice(0)) heard(stray);
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
