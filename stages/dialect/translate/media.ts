/**
 * Where media come from, and which inline files count as documents: those accepted by every dialect
 * that accepts files.
 */
import type { DocumentBlock, MediaSource } from '../canonical.ts';
import { cannotCarry } from './errors.ts';

/** Makes a document of that source. Throws `unprocessable` for audio, video and office formats. */
export function documentOf(source: MediaSource, title: string | undefined): DocumentBlock {
  const type = source.from === 'base64' ? source.mediaType : 'application/pdf';
  if (type !== 'application/pdf' && !type.startsWith('text/')) {
    throw cannotCarry(`a file of type ${type}`);
  }
  return title === undefined ? { kind: 'document', source } : { kind: 'document', source, title };
}

/** Returns the source for a URL; a data URL contains the media itself. */
export function sourceOf(url: string): MediaSource {
  const inline = parseDataUrl(url);
  return inline === undefined ? { from: 'url', url } : { from: 'base64', ...inline };
}

/** Returns the equivalent URL. */
export function addressOf(source: MediaSource): string {
  return source.from === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`;
}

/** Splits `data:<type>;base64,<data>`; returns undefined for any other URL. */
export function parseDataUrl(url: string): { mediaType: string; data: string } | undefined {
  if (!url.startsWith('data:')) return undefined;
  const comma = url.indexOf(',');
  const declared = url.slice(5, comma);
  if (comma < 0 || !declared.endsWith(';base64')) return undefined;
  const mediaType = declared.split(';')[0]!;
  return mediaType === '' ? undefined : { mediaType, data: url.slice(comma + 1) };
}
