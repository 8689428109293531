/**
 * Which dialects can be translated, without the code that does it, which most proxies never need.
 */
import type { TranslatableDialect } from './translate/translate.ts';

export const TRANSLATABLE: readonly TranslatableDialect[] = [
  'messages',
  'chat',
  'responses',
  'generative',
];

/** Returns true for dialects between which requests can be translated. */
export function isTranslatable(dialect: string): dialect is TranslatableDialect {
  return (TRANSLATABLE as readonly string[]).includes(dialect);
}

const COUNTING: ReadonlySet<string> = new Set<TranslatableDialect>(['messages', 'generative']);

/**
 * Returns true if a provider of this kind counts the tokens of translated requests: chat servers
 * have no endpoint for it, apart from one maker's.
 */
export function countsTokens(kind: string): boolean {
  return COUNTING.has(kind);
}
