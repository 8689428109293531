/** The processing of every answer for a client of another dialect, whole or as a stream. */
import { emptyUsage } from '../../model/usage.ts';
import type {
  CanonicalBlock,
  CanonicalEvent,
  CanonicalResponse,
  Note,
  OpeningBlock,
  ProviderMark,
  RefusalBlock,
  StopReason,
  StreamReader,
  TranslatableDialect,
  WireEvent,
} from '../canonical.ts';
import type { ClientOptions } from './dialect.ts';
import { unreadableAnswer } from './errors.ts';
import type { ConversationMarks, MarkedCall } from '../call-marks.ts';
import { toolIdFor } from './ids.ts';
import { parseArguments } from '../exact-json.ts';
import { shownImage } from './answer-image.ts';
import { hasContent, isForeign } from './prepare.ts';

export interface AnswerFilter {
  readonly to: TranslatableDialect;
  readonly marks: ConversationMarks;
  readonly clientOptions: Pick<ClientOptions, 'toolNames' | 'callIds' | 'place'>;
  readonly note: Note;
}

/** Dialects whose tool calls contain an object: anything else would break their clients. */
const OBJECT_INPUT: ReadonlySet<TranslatableDialect> = new Set(['messages', 'generative']);

/** Stop reasons that cut off the current output, even within a call. */
const CUTS: ReadonlySet<StopReason> = new Set(['maxTokens', 'contextWindow', 'refusal']);

/** Events that cannot come before the start of an answer. */
const BEGINNING: ReadonlySet<CanonicalEvent['type']> = new Set([
  'start',
  'blockStart',
  'stop',
  'end',
]);

/**
 * How many pieces of hidden thinking pass between two pings: enough to show the client activity.
 */
const PIECES_PER_PING = 16;

/**
 * Returns the blocks for the client. Throws `bad_gateway` if the answer failed or cannot be
 * expressed.
 */
export function clientBlocks(response: CanonicalResponse, filter: AnswerFilter): CanonicalBlock[] {
  if (response.stopReason === 'failed') throw unreadableAnswer(failure(response.why));
  const visible = response.blocks.filter(
    (block) => hasContent(block) && !isForeign(block, filter.to),
  );
  const hasRefused = visible.some(({ kind }) => kind === 'refusal');
  const refused = hasRefused ? undefined : refusalOf(response.stopReason, response.why, filter.to);
  return [...visible, ...(refused === undefined ? [] : [refused])].flatMap((block, at) => {
    if (block.kind === 'image') return shownImage(block, filter);
    if (block.kind !== 'toolUse') return block;
    if (!isBroken(block.input, filter.to)) {
      const call = { ...block, ...acceptedCall(block, filter) };
      if (block.mark !== undefined) keepMark(filter, call, block.mark);
      return call;
    }
    // Half a call is dropped; the stop reason tells the client why.
    if (mayBeCut(response.stopReason, filter.to) && at === visible.length - 1) return [];
    throw unreadableAnswer(brokenCall(block.name));
  });
}

/** Dialects whose answers have a text in which the model declines. */
const DECLINING: ReadonlySet<TranslatableDialect> = new Set(['chat', 'responses']);

/** Returns the provider's reason for a refusal, as a text of the answer. */
function refusalOf(
  reason: StopReason,
  why: string | undefined,
  to: TranslatableDialect,
): RefusalBlock | undefined {
  return reason === 'refusal' && why !== undefined && DECLINING.has(to)
    ? { kind: 'refusal', text: why }
    : undefined;
}

/** Keeps a mark for the next turn. */
function keepMark(
  { marks, clientOptions: { place } }: AnswerFilter,
  call: MarkedCall,
  { provider, value }: ProviderMark,
): void {
  marks.put(provider, place === undefined ? call : { ...call, place }, value);
}

const MAX_WHY_CHARS = 300;

function failure(why: string | undefined): string {
  const reason = why === undefined ? '' : `: ${why.slice(0, MAX_WHY_CHARS)}`;
  return `The provider broke its answer off${reason}`;
}

function brokenCall(name: string): string {
  return `The model called ${name} with arguments that are not a JSON object`;
}

/**
 * Only for clients that expect half a call after such a stop; in the generative dialect calls are
 * whole or have failed.
 */
function mayBeCut(reason: StopReason, to: TranslatableDialect): boolean {
  return to === 'messages' && CUTS.has(reason);
}

function isBroken(input: string, to: TranslatableDialect): boolean {
  return OBJECT_INPUT.has(to) && parseArguments(input) === undefined;
}

/**
 * Returns the call's id as the client accepts it, and the client's name of the tool. Some servers
 * use the same first ids in every turn; clients and their own providers expect unique ids.
 */
function acceptedCall(
  call: { readonly id: string; readonly name: string },
  { to, clientOptions: { toolNames, callIds } }: AnswerFilter,
): { id: string; name: string } {
  let id = toolIdFor(to, call.id);
  for (let times = 2; callIds?.has(id) === true; times += 1)
    id = toolIdFor(to, `${call.id}_${times}`);
  const own = Object.hasOwn(toolNames, call.name) ? toolNames[call.name] : undefined;
  return { id, name: own ?? call.name };
}

/**
 * Does the same for a stream: replaces foreign thinking by pings, makes ids acceptable, keeps what
 * the provider requires back with them, stops calls that cannot be expressed unless the answer was
 * cut off in them, and lets nothing pass after an end or an error.
 */
export function createEventFilter(
  filter: AnswerFilter,
): (event: CanonicalEvent) => CanonicalEvent[] {
  const state = new EventFilter(filter);
  return (event) => state.take(event);
}

class EventFilter {
  readonly #filter: AnswerFilter;
  /** The whole calls so far, by the provider's id of each. */
  readonly #calls = new Map<string, MarkedCall>();
  #open: OpeningBlock | undefined;
  #openId = '';
  #input = '';
  /**
   * The name of a call that ended incomplete: the next event shows whether the answer was cut off.
   */
  #broken: string | undefined;
  #hidden = 0;
  #started = false;
  #failure: string | undefined;
  #over = false;
  #hasRefused = false;

  constructor(filter: AnswerFilter) {
    this.#filter = filter;
  }

  /** A stream without a start gets one; a second start is dropped. */
  take(event: CanonicalEvent): CanonicalEvent[] {
    if (this.#over || (event.type === 'start' && this.#started)) return [];
    const begins = BEGINNING.has(event.type) && !this.#started;
    this.#started ||= begins;
    const events = this.#pass(event);
    const late = begins && event.type !== 'start';
    return late ? [{ type: 'start', id: '', model: '' }, ...events] : events;
  }

  #pass(event: CanonicalEvent): CanonicalEvent[] {
    if (this.#broken !== undefined) return this.#afterBroken(event, this.#broken);
    switch (event.type) {
      case 'blockStart':
        return this.#start(event.block);
      case 'delta':
        return this.#delta(event);
      case 'blockStop':
        return this.#stop();
      case 'mark':
        this.#keep(event.callId, event.mark);
        return [];
      case 'stop': {
        this.#failure = event.reason === 'failed' ? failure(event.why) : undefined;
        const refused = this.#hasRefused
          ? undefined
          : refusalOf(event.reason, event.why, this.#filter.to);
        return refused === undefined ? [event] : [...blockEvents(refused), event];
      }
      case 'end':
        if (this.#failure !== undefined) return this.#fail(this.#failure);
        this.#over = true;
        return [event];
      case 'error':
        this.#over = true;
        return [event];
      default:
        return [event];
    }
  }

  #afterBroken(event: CanonicalEvent, name: string): CanonicalEvent[] {
    if (event.type === 'mark') return [];
    if (event.type === 'ping' || event.type === 'usage') return [event];
    this.#broken = undefined;
    if (event.type === 'error') return this.#pass(event);
    const isCut = event.type === 'stop' && mayBeCut(event.reason, this.#filter.to);
    if (!isCut) return this.#fail(brokenCall(name));
    return [{ type: 'blockStop' }, event];
  }

  #isHidden(): boolean {
    return this.#open?.kind === 'thinking' && this.#open.provider !== this.#filter.to;
  }

  #start(block: OpeningBlock): CanonicalEvent[] {
    const shown = block.kind === 'image' ? shownImage(block, this.#filter) : undefined;
    if (shown?.kind === 'text') {
      this.#open = { kind: 'text' };
      return [
        { type: 'blockStart', block: this.#open },
        { type: 'delta', text: shown.text },
      ];
    }
    this.#hasRefused ||= block.kind === 'refusal';
    this.#input = '';
    this.#openId = block.kind === 'toolUse' ? block.id : '';
    this.#open =
      block.kind === 'toolUse' ? { ...block, ...acceptedCall(block, this.#filter) } : block;
    return this.#isHidden() ? [] : [{ type: 'blockStart', block: this.#open }];
  }

  #delta(event: Extract<CanonicalEvent, { type: 'delta' }>): CanonicalEvent[] {
    if (this.#isHidden()) {
      this.#hidden += 1;
      return this.#hidden % PIECES_PER_PING === 1 ? [{ type: 'ping' }] : [];
    }
    if (this.#open?.kind === 'toolUse') this.#input += event.text;
    return [event];
  }

  #stop(): CanonicalEvent[] {
    const open = this.#open;
    const hidden = this.#isHidden();
    this.#open = undefined;
    if (hidden) return [];
    if (open?.kind === 'toolUse' && isBroken(this.#input, this.#filter.to)) {
      this.#broken = open.name;
      return [];
    }
    if (open?.kind === 'toolUse')
      this.#calls.set(this.#openId, { id: open.id, name: open.name, input: this.#input });
    return [{ type: 'blockStop' }];
  }

  /** Keeps a mark for the next turn; a call that was cut off is ignored. */
  #keep(callId: string, mark: ProviderMark): void {
    const call = this.#calls.get(callId);
    if (call !== undefined) keepMark(this.#filter, call, mark);
  }

  #fail(message: string): CanonicalEvent[] {
    this.#over = true;
    return [{ type: 'error', error: { kind: 'internal', message } }];
  }
}

/** Returns a whole answer as the equivalent stream. */
export function responseEvents(response: CanonicalResponse): CanonicalEvent[] {
  const { id, model, createdS, usage, stopReason: reason, stopSequence: sequence, why } = response;
  return [
    { type: 'start', id, model, createdS },
    ...response.blocks.flatMap(blockEvents),
    { type: 'stop', reason, sequence, why },
    { type: 'usage', usage },
    { type: 'end' },
  ];
}

function blockEvents(block: CanonicalBlock): CanonicalEvent[] {
  const opening = openingOf(block);
  if (opening === undefined) return [];
  const text = block.kind === 'toolUse' ? block.input : 'text' in block ? block.text : '';
  return [
    { type: 'blockStart', block: opening },
    ...(text === '' ? [] : [{ type: 'delta' as const, text }]),
    { type: 'blockStop' },
  ];
}

function openingOf(block: CanonicalBlock): OpeningBlock | undefined {
  switch (block.kind) {
    case 'image':
      return block;
    case 'text':
    case 'refusal':
      return { kind: block.kind };
    case 'thinking':
      return { kind: 'thinking', provider: block.provider };
    case 'toolUse':
      return { kind: 'toolUse', id: block.id, name: block.name };
    default:
      return undefined;
  }
}

/** Combines a stream into the whole answer. Throws as `gatherEvents` does. */
export function gatherStream(
  reader: StreamReader,
  events: readonly WireEvent[],
): CanonicalResponse {
  const read = events.flatMap((event) => [...reader.read(event)]);
  return gatherEvents([...read, ...reader.end()]);
}

/**
 * Combines a stream's events into the whole answer. Throws `bad_gateway` for a stream that failed.
 */
function gatherEvents(events: readonly CanonicalEvent[]): CanonicalResponse {
  let answer: CanonicalResponse = { ...EMPTY };
  const blocks: CanonicalBlock[] = [];
  let open: OpeningBlock | undefined;
  let text = '';
  for (const event of events) {
    if (event.type === 'error') throw unreadableAnswer(event.error.message);
    if (event.type === 'start') {
      const { type: _, ...rest } = event;
      answer = { ...answer, ...rest };
    }
    if (event.type === 'usage') answer = { ...answer, usage: event.usage };
    if (event.type === 'stop') {
      const { reason: stopReason, sequence: stopSequence, why } = event;
      answer = { ...answer, stopReason, stopSequence, why };
    }
    if (event.type === 'delta') text += event.text;
    if (event.type === 'mark') {
      const { callId, mark } = event;
      const at = blocks.findLastIndex((block) => block.kind === 'toolUse' && block.id === callId);
      const call = blocks[at];
      if (call?.kind === 'toolUse') blocks[at] = { ...call, mark };
    }
    if (event.type === 'blockStop' && open !== undefined) blocks.push(closeBlock(open, text));
    if (event.type === 'blockStart') {
      open = event.block;
      text = '';
    }
  }
  return { ...answer, blocks };
}

const EMPTY = {
  id: '',
  model: '',
  blocks: [],
  stopReason: 'end',
  usage: emptyUsage,
} as const;

function closeBlock(open: OpeningBlock, text: string): CanonicalBlock {
  if (open.kind === 'image') return open;
  return open.kind === 'toolUse' ? { ...open, input: text } : { ...open, text };
}
