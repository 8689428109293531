/** Reads a whole generative answer by way of its stream: both are made of the same chunks. */
import { emptyUsage, type Usage } from '../../model/usage.ts';
import type {
  CanonicalBlock,
  CanonicalEvent,
  CanonicalResponse,
  OpeningBlock,
  StopReason,
} from '../canonical.ts';
import type { AnswerContext } from '../translate-dialect.ts';
import { unreadableAnswer } from '../translate-errors.ts';
import { objectOf, objectsOf } from '../translate-json.ts';
import { createGenerativeReader } from './translate-stream-read.ts';

/**
 * Reads a whole answer: one object, or the array of chunks that a stream without
 * `alt=sse` is. Both are what a stream says, so the stream's reader reads them.
 */
export function readGenerativeResponse(body: unknown, context: AnswerContext): CanonicalResponse {
  const chunks = Array.isArray(body) ? objectsOf(body) : [objectOf(body)];
  const reader = createGenerativeReader(context);
  const events = chunks.flatMap((chunk) => [...reader.read({ data: JSON.stringify(chunk) })]);
  return gather([...events, ...reader.end()]);
}

interface Gathered {
  id: string;
  model: string;
  blocks: CanonicalBlock[];
  stopReason: StopReason;
  usage: Usage;
}

function gather(events: readonly CanonicalEvent[]): CanonicalResponse {
  const answer: Gathered = { id: '', model: '', blocks: [], stopReason: 'end', usage: emptyUsage };
  let open: OpeningBlock | undefined;
  let text = '';
  for (const event of events) {
    if (event.type === 'error') throw unreadableAnswer(event.error.message);
    if (event.type === 'start') Object.assign(answer, { id: event.id, model: event.model });
    if (event.type === 'usage') answer.usage = event.usage;
    if (event.type === 'stop') answer.stopReason = event.reason;
    if (event.type === 'delta') text += event.text;
    if (event.type === 'blockStop' && open !== undefined) answer.blocks.push(filled(open, text));
    if (event.type === 'blockStart') {
      open = event.block;
      text = '';
    }
  }
  return answer;
}

function filled(open: OpeningBlock, text: string): CanonicalBlock {
  return open.kind === 'toolUse' ? { ...open, input: text } : { ...open, text };
}
