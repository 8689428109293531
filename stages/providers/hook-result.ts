/** What a hook may return. Authors return other things by mistake, and are told what was wanted. */

/** The hooks of a provider that is code. */
export type HookName = 'request' | 'response' | 'event';

/** What an object that a hook returns has at least. */
const MEMBERS: Readonly<Record<HookName, readonly string[]>> = {
  request: ['path', 'headers', 'body'],
  response: ['body'],
  event: ['data'],
};

/** Why `result` is of no use, undefined where it is. Throws what a getter of it throws. */
export function unfitResult(hook: HookName, result: unknown): string | undefined {
  if (result === undefined || result === null) return undefined;
  if (isThenable(result)) return 'it returned a promise; hooks are synchronous';
  const wanted = MEMBERS[hook];
  if (typeof result === 'object' && wanted.every((member) => member in result)) return undefined;
  return `it returned something that is not { ${wanted.join(', ')} }; return that, or nothing`;
}

function isThenable(result: {}): boolean {
  return typeof result === 'object' && 'then' in result && typeof result.then === 'function';
}
