/**
 * What a conversation over one WebSocket goes on from. There a client sends what is new and names the
 * newest response, which the provider remembers for the connection even where nothing is stored. Over
 * HTTP nothing remembers it: so what that response was made of is kept here, and put before what is new.
 */
import { isObject, objectsOf, stringOf } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { findSpans } from '../../stages/wire/json-path.ts';
import { insertMember, splice } from '../../stages/wire/splice.ts';
import { withoutMembers } from '../../stages/wire/without-members.ts';

/** The newest response, and the items of the conversation up to its end as JSON, joined by commas. */
interface Baseline {
  readonly id: string;
  readonly items: Buffer;
}

/** Members of a message that are about the connection, or that a stream over HTTP says otherwise. */
const OF_CONNECTION: ReadonlySet<string> = new Set(['type', 'generate', 'stream', 'background']);
const PREVIOUS = 'previous_response_id';
const COMMA = Buffer.from(',');
const NOTHING = Buffer.alloc(0);
const ENDED: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete']);

/** A turn under way. */
export interface Turn {
  /** The body of the POST. */
  readonly body: Buffer;
  /** Hears of each event of its answer. */
  readonly heard: (payload: JsonObject) => void;
  /** Ends it with a response of this id that says nothing. */
  readonly endEmpty: (id: string) => void;
}

/** Gives room for so many bytes until it is given back; undefined where there is none. */
export type ClaimBytes = (bytes: number) => (() => void) | undefined;

/** Keeps what `claim` gives room for; what has none is not gone on from, and its client sends it whole again. */
export function createContinuation(claim: ClaimBytes) {
  let baseline: Baseline | undefined;
  let release: (() => void) | undefined;

  function keep(next: Baseline | undefined): void {
    release?.();
    release = next && claim(next.items.length);
    baseline = release && next;
  }

  return {
    /** `message` is valid JSON and an object, `read` the same parsed. */
    begin(message: Buffer, read: JsonObject): Turn {
      const { store, generate } = read;
      const before = read[PREVIOUS] === baseline?.id ? baseline : undefined;
      const plain = withoutMembers(
        message,
        (name) => OF_CONNECTION.has(name) || (before !== undefined && name === PREVIOUS),
      );
      const [whole, input] = findSpans(plain, [[], ['input']]);
      const fresh = input === undefined ? NOTHING : itemsOf(plain.subarray(input.start, input.end));
      const items = joined([before?.items ?? NOTHING, fresh]);
      const list = Buffer.concat([Buffer.from('['), items, Buffer.from(']')]);
      const asked =
        before === undefined
          ? plain
          : splice(plain, [
              input === undefined
                ? insertMember(plain, whole!, 'input', list)
                : { ...input, bytes: list },
            ]);
      // What an earlier turn stored is at the provider, and nobody here knows it.
      const isWhole = before !== undefined || typeof read[PREVIOUS] !== 'string';
      // A response that the provider has stored is gone on from there, as over HTTP.
      const isKept = isWhole && (store === false || generate === false || before !== undefined);
      const output: Buffer[] = [];
      const said = (item: JsonObject): void => {
        if (canBeSentAgain(item)) output.push(Buffer.from(JSON.stringify(item)));
      };
      let hasItems = false;
      const end = (id: string): void => {
        const all = joined([items, ...output]);
        keep(isKept ? { id, items: all } : undefined);
      };
      return {
        body: splice(asked, [insertMember(asked, findSpans(asked, [[]])[0]!, 'stream', 'true')]),
        heard({ type, item, response }) {
          if (type === 'response.output_item.done' && isObject(item)) {
            hasItems = true;
            said(item);
          } else if (ENDED.has(type) && isObject(response)) {
            if (!hasItems) objectsOf(response['output']).forEach(said);
            end(stringOf(response['id']) ?? '');
          }
        },
        endEmpty: end,
      };
    },
    /** The connection is gone. */
    close: () => keep(undefined),
  };
}

/** Without its encrypted content a thought is only the name of something that nobody has stored. */
function canBeSentAgain({ type, encrypted_content }: JsonObject): boolean {
  return type !== 'reasoning' || typeof encrypted_content === 'string';
}

/** The items of an `input`, which may be a list or one text, without the brackets. */
function itemsOf(input: Buffer): Buffer {
  if (input[0] === 0x5b) return trimmed(input.subarray(1, -1));
  return Buffer.concat([Buffer.from('{"role":"user","content":'), input, Buffer.from('}')]);
}

function trimmed(bytes: Buffer): Buffer {
  let start = 0;
  let end = bytes.length;
  while (start < end && bytes[start]! <= 0x20) start += 1;
  while (end > start && bytes[end - 1]! <= 0x20) end -= 1;
  return bytes.subarray(start, end);
}

function joined(lists: readonly Buffer[]): Buffer {
  const filled = lists.filter(({ length }) => length > 0);
  return Buffer.concat(filled.flatMap((list, at) => (at === 0 ? [list] : [COMMA, list])));
}
