/** Which inline files count as documents: what every dialect that takes files takes. */
import type { DocumentBlock, MediaSource } from './canonical.ts';
import { cannotCarry } from './translate-errors.ts';

/** A document of that source. Throws `unprocessable` for sound, video and office formats. */
export function documentOf(source: MediaSource, title: string | undefined): DocumentBlock {
  const type = source.from === 'base64' ? source.mediaType : 'application/pdf';
  if (type !== 'application/pdf' && !type.startsWith('text/')) {
    throw cannotCarry(`a file of type ${type}`);
  }
  return title === undefined ? { kind: 'document', source } : { kind: 'document', source, title };
}
