/** Which dialects can be translated, without the code that does it: most proxies never need that. */
import type { TranslatableDialect } from './translate/translate.ts';

export const TRANSLATABLE: readonly TranslatableDialect[] = [
  'messages',
  'chat',
  'responses',
  'generative',
];

/** True for the dialects between which requests can be translated. */
export function isTranslatable(dialect: string): dialect is TranslatableDialect {
  return (TRANSLATABLE as readonly string[]).includes(dialect);
}
