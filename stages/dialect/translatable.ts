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

/** Dialects with an endpoint that counts tokens; of chat servers, only one vendor's have one. */
const COUNTING = ['messages', 'generative'] as const satisfies readonly TranslatableDialect[];
export type CountingDialect = (typeof COUNTING)[number];

/** Returns true if a provider of this kind counts the tokens of translated requests. */
export function countsTokens(kind: string): kind is CountingDialect {
  return (COUNTING as readonly string[]).includes(kind);
}
