/** The generative dialect's side of translation. */
import type { JsonObject } from '../canonical.ts';
import type { DialectTranslation } from '../translate-dialect.ts';
import {
  readGenerativeError,
  writeGenerativeError,
  writeGenerativeResponse,
} from './translate-answer.ts';
import { readGenerativeTarget } from './translate-fields.ts';
import { readGenerativeRequest } from './translate-read.ts';
import { createGenerativeReader } from './translate-stream-read.ts';
import { createGenerativeWriter } from './translate-stream-write.ts';
import { readGenerativeResponse } from './translate-whole.ts';
import { writeGenerativeRequest } from './translate-write.ts';

export const generativeTranslation: DialectTranslation = Object.freeze({
  name: 'generative',
  midSystem: false,
  toolName: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
  readRequest: readGenerativeRequest,
  writeRequest: writeGenerativeRequest,
  wishes: (_body: JsonObject, target: string) => ({
    includeUsage: false,
    framing: readGenerativeTarget(target)?.events === true ? ('sse' as const) : ('array' as const),
    freeformTools: [],
    searchTools: [],
  }),
  readResponse: readGenerativeResponse,
  writeResponse: writeGenerativeResponse,
  createReader: createGenerativeReader,
  createWriter: createGenerativeWriter,
  readError: readGenerativeError,
  writeError: writeGenerativeError,
});
