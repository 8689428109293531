/** Images and other files in answers: on their way to the client, and back in its next request. */
import type {
  CanonicalBlock,
  CanonicalMessage,
  ImageBlock,
  Note,
  TextBlock,
  TranslatableDialect,
} from '../canonical.ts';

/** Dialects whose answers contain images, and where those may come from. */
const SHOWN: Partial<Record<TranslatableDialect, readonly ImageBlock['source']['from'][]>> = {
  chat: ['base64', 'url'],
  responses: ['base64'],
  generative: ['base64'],
};

/**
 * Returns an image as the client's dialect can contain it: as it is, else a line of text, because
 * an answer without it would seem complete.
 */
export function shownImage(
  image: ImageBlock,
  { to, note }: { readonly to: TranslatableDialect; readonly note: Note },
): ImageBlock | TextBlock {
  const { source } = image;
  if (SHOWN[to]?.includes(source.from) === true) return image;
  if (source.from === 'url') return linkTo(source.url);
  return missingFile(source.mediaType, source.data, note);
}

/**
 * Returns a line of text in place of a file of this type that the client cannot get; `data` is
 * base64.
 */
export function missingFile(mediaType: string, data: string, note: Note): TextBlock {
  note(`a file of type ${mediaType} in the answer left out: a line of text replaces it`);
  const size = new Intl.NumberFormat('en').format(Math.floor((data.length * 3) / 4));
  return {
    kind: 'text',
    text: `[left out: a file of type ${mediaType} (${size} bytes), which this client's API cannot represent]`,
  };
}

function linkTo(url: string): TextBlock {
  return { kind: 'text', text: `![image](${url})` };
}

/**
 * Returns the messages with the images of earlier answers where the dialect takes images: only the
 * generative one does so in answers, in the others they follow with the user's next message.
 */
export function withAnswerImages(
  messages: readonly CanonicalMessage[],
  to: TranslatableDialect,
  note: Note,
): readonly CanonicalMessage[] {
  const isMade = ({ role, blocks }: CanonicalMessage): boolean =>
    role === 'assistant' && blocks.some(({ kind }) => kind === 'image');
  if (!messages.some(isMade)) return messages;
  let waiting: ImageBlock[] = [];
  const placed = messages.map((message): CanonicalMessage => {
    const { role, blocks } = message;
    if (role === 'user' && waiting.length > 0) {
      const attached = [MADE, ...waiting];
      waiting = [];
      return { role, blocks: afterResults(blocks, attached) };
    }
    if (role !== 'assistant') return message;
    return {
      role,
      blocks: blocks.flatMap((block): CanonicalBlock | [] => {
        if (block.kind !== 'image') return block;
        if (block.source.from === 'url') return linkTo(block.source.url);
        if (to === 'generative') return block;
        waiting.push(block);
        return [];
      }),
    };
  });
  if (waiting.length > 0) note('an image of the last answer left out: only its provider takes it');
  return placed;
}

const MADE: TextBlock = { kind: 'text', text: 'Attached to the answer before:' };

/** The results of calls come first in a message. */
function afterResults(
  blocks: readonly CanonicalBlock[],
  attached: readonly CanonicalBlock[],
): CanonicalBlock[] {
  const results = blocks.filter(({ kind }) => kind === 'toolResult');
  return [...results, ...attached, ...blocks.filter(({ kind }) => kind !== 'toolResult')];
}
