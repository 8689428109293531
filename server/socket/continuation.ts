/**
 * The state that a conversation over one WebSocket continues from. There a client sends only new
 * items and names the newest response, which the provider remembers for the connection even if
 * nothing is stored. Over HTTP it is not remembered, so the items up to that response are kept here
 * and put before the new ones.
 */
import { isObject, objectsOf, stringOf } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { findSpans } from '../../stages/wire/json-path.ts';
import { insertMember, splice } from '../../stages/wire/splice.ts';
import { withoutMembers } from '../../stages/wire/members.ts';

/** The newest response, and the conversation's items up to its end as JSON, joined by commas. */
interface Baseline {
  readonly id: string;
  readonly items: Buffer;
}

/** Members of a message about the connection, or expressed differently in a stream over HTTP. */
const OF_CONNECTION: ReadonlySet<string> = new Set(['type', 'generate', 'stream', 'background']);
const PREVIOUS = 'previous_response_id';
const COMMA = Buffer.from(',');
const NOTHING = Buffer.alloc(0);
const ENDED: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete']);

/** A turn in progress. */
export interface Turn {
  /** The body of the POST. */
  readonly body: Buffer;
  /** Called with each event of the response. */
  readonly onEvent: (payload: JsonObject) => void;
  /** Ends the turn with an empty response of this id. */
  readonly endEmpty: (id: string) => void;
}

/** Reserves bytes until the returned function is called; undefined if there is no room. */
export type ClaimBytes = (bytes: number) => (() => void) | undefined;

/**
 * Creates the state. If `claim` has no room, the conversation is not kept, and its client sends it
 * again as a whole.
 */
export function createContinuation(claim: ClaimBytes) {
  let baseline: Baseline | undefined;
  let release: (() => void) | undefined;

  function keep(next: Baseline | undefined): void {
    release?.();
    release = next && claim(next.items.length);
    baseline = release && next;
  }

  return {
    /** Begins a turn; `message` is a valid JSON object, `parsed` is the same message. */
    begin(message: Buffer, parsed: JsonObject): Turn {
      const { store, generate } = parsed;
      const before = parsed[PREVIOUS] === baseline?.id ? baseline : undefined;
      const plain = withoutMembers(
        message,
        (name) => OF_CONNECTION.has(name) || (before !== undefined && name === PREVIOUS),
      );
      const [whole, input] = findSpans(plain, [[], ['input']]);
      const fresh = input === undefined ? NOTHING : itemsOf(plain.subarray(input.start, input.end));
      const items = joinLists([before?.items ?? NOTHING, fresh]);
      const list = Buffer.concat([Buffer.from('['), items, Buffer.from(']')]);
      const full =
        before === undefined
          ? plain
          : splice(plain, [
              input === undefined
                ? insertMember(plain, whole!, 'input', list)
                : { ...input, bytes: list },
            ]);
      // What an earlier turn stored is at the provider, and unknown here.
      const isWhole = before !== undefined || typeof parsed[PREVIOUS] !== 'string';
      // A response stored by the provider is continued there, as over HTTP.
      const isKept = isWhole && (store === false || generate === false || before !== undefined);
      const output: Buffer[] = [];
      const addOutput = (item: JsonObject): void => {
        if (canBeSentAgain(item)) output.push(Buffer.from(JSON.stringify(item)));
      };
      let hasItems = false;
      const end = (id: string): void => {
        const all = joinLists([items, ...output]);
        keep(isKept ? { id, items: all } : undefined);
      };
      return {
        body: splice(full, [insertMember(full, findSpans(full, [[]])[0]!, 'stream', 'true')]),
        onEvent({ type, item, response }) {
          if (type === 'response.output_item.done' && isObject(item)) {
            hasItems = true;
            addOutput(item);
          } else if (ENDED.has(type) && isObject(response)) {
            if (!hasItems) objectsOf(response['output']).forEach(addOutput);
            end(stringOf(response['id']) ?? '');
          }
        },
        endEmpty: end,
      };
    },
    /** Called when the connection is closed. */
    close: () => keep(undefined),
  };
}

/**
 * A reasoning item without encrypted content is only a reference to something that was not stored.
 */
function canBeSentAgain({ type, encrypted_content }: JsonObject): boolean {
  return type !== 'reasoning' || typeof encrypted_content === 'string';
}

/** Returns the items of an `input`, which may be a list or one text, without the brackets. */
function itemsOf(input: Buffer): Buffer {
  if (input[0] === 0x5b) return trimWhitespace(input.subarray(1, -1));
  return Buffer.concat([Buffer.from('{"role":"user","content":'), input, Buffer.from('}')]);
}

function trimWhitespace(bytes: Buffer): Buffer {
  let start = 0;
  let end = bytes.length;
  while (start < end && bytes[start]! <= 0x20) start += 1;
  while (end > start && bytes[end - 1]! <= 0x20) end -= 1;
  return bytes.subarray(start, end);
}

function joinLists(lists: readonly Buffer[]): Buffer {
  const filled = lists.filter(({ length }) => length > 0);
  return Buffer.concat(filled.flatMap((list, index) => (index === 0 ? [list] : [COMMA, list])));
}
