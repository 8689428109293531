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
