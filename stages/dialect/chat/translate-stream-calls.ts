/**
 * Which tool call a piece of a chat stream belongs to. The dialect numbers calls and names each one
 * once, with its id, but servers omit the number or the id, number every call 0, or repeat name and
 * id with every piece.
 *
 * | the piece has                            | it belongs to                                   |
 * |------------------------------------------|-------------------------------------------------|
 * | an id that a call has                    | that call                                       |
 * | another id and a name                    | a new call                                      |
 * | another name than the call of its place  | a new call                                      |
 * | that call's name, its arguments whole    | a new call, once it has arguments of its own    |
 * | the second name of one delta at a place  | a new call                                      |
 * | anything else                            | the call of its place                           |
 *
 * Its place is its number; without one, in a delta of several such pieces, its position among them,
 * otherwise the latest call.
 */
import type { JsonObject } from '../canonical.ts';
import { exactJson, parseArguments } from '../exact-json.ts';
import { filledString, isObject, numberOf, objectOf, stringOf } from '../json-kind.ts';

/** A tool call that is still being received. It opens when its name is known. */
export interface GrowingCall {
  readonly key: string;
  readonly id: string;
  name: string;
  input: string;
}

/** The content of a piece of a call. */
interface Piece {
  /** Undefined for the latest call. */
  readonly index: string | undefined;
  readonly isNumbered: boolean;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly text: string;
}

/** A piece with its call. */
export interface PlacedPiece {
  readonly call: GrowingCall;
  readonly isNew: boolean;
  readonly name: string | undefined;
  readonly text: string;
}

export class ChatCalls {
  readonly #newCall: (id: string | undefined) => GrowingCall;
  readonly #all: GrowingCall[] = [];
  readonly #byIndex = new Map<string, GrowingCall>();
  readonly #byId = new Map<string, GrowingCall>();
  /** Complete calls whose name was repeated: the next arguments begin another call of that name. */
  readonly #namedAgain = new Set<GrowingCall>();

  /** `newCall` creates a call under the id of the wire, or under a new one if there is none. */
  constructor(newCall: (id: string | undefined) => GrowingCall) {
    this.#newCall = newCall;
  }

  /** Returns the calls so far, in the order they began. */
  all(): readonly GrowingCall[] {
    return this.#all;
  }

  /**
   * Yields the pieces of one delta, each with its call. Process each before requesting the next.
   */
  *assign(parts: readonly JsonObject[]): Generator<PlacedPiece> {
    const isList = parts.filter((part) => indexOf(part) === undefined).length > 1;
    const touched = new Set<GrowingCall>();
    for (const [position, part] of parts.entries()) {
      const piece = this.#withName(readPiece(part, isList ? position : undefined));
      const known = this.#find(piece, touched);
      const call = known ?? this.#open(piece);
      if (piece.id !== undefined && !this.#byId.has(piece.id)) this.#byId.set(piece.id, call);
      touched.add(call);
      yield { call, isNew: known === undefined, name: piece.name, text: piece.text };
    }
  }

  /** Gives arguments the name that was repeated before them. */
  #withName(piece: Piece): Piece {
    const call = this.#at(piece);
    if (call === undefined || piece.name !== undefined || piece.text.trim() === '') return piece;
    return this.#namedAgain.has(call) ? { ...piece, name: call.name } : piece;
  }

  /** Returns the call that `piece` continues; undefined if it begins a new one. */
  #find(piece: Piece, touched: ReadonlySet<GrowingCall>): GrowingCall | undefined {
    const { id, name, text } = piece;
    const call = this.#at(piece);
    const sameId = id === undefined ? undefined : this.#byId.get(id);
    if (sameId !== undefined) return this.#isOther(sameId, piece) ? undefined : sameId;
    if (call === undefined || name === undefined || call.name === '') return call;
    if (touched.has(call) || name !== call.name) return undefined;
    if (!isWhole(call.input)) {
      // A server that makes up an id for every piece is still in the middle of this call.
      return id === undefined || call.input !== '' ? call : undefined;
    }
    if (id !== undefined || text.trim() !== '') return undefined;
    this.#namedAgain.add(call);
    return call;
  }

  /** Returns true if a server gives the same id to several calls. */
  #isOther(sameId: GrowingCall, piece: Piece): boolean {
    if (piece.name === undefined || sameId.name === '') return false;
    return piece.name !== sameId.name || (piece.isNumbered && this.#at(piece) !== sameId);
  }

  #at({ index }: Piece): GrowingCall | undefined {
    return index === undefined ? this.#all.at(-1) : this.#byIndex.get(index);
  }

  #open({ id, index }: Piece): GrowingCall {
    const call = this.#newCall(id === undefined || this.#byId.has(id) ? undefined : id);
    this.#all.push(call);
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }
}

/** Returns true for complete arguments. */
export function isWhole(input: string): boolean {
  return input.trimEnd().endsWith('}') && parseArguments(input) !== undefined;
}

function readPiece(part: JsonObject, position: number | undefined): Piece {
  const called = objectOf(part.function);
  const args = called.arguments;
  const index = indexOf(part);
  const unnumbered = position === undefined ? undefined : `position ${position}`;
  return {
    index: index ?? unnumbered,
    isNumbered: index !== undefined,
    id: filledString(part.id),
    name: filledString(called.name),
    text: isObject(args) ? exactJson(args) : (stringOf(args) ?? ''),
  };
}

/** Returns the number of a call, which some servers write as a string. */
function indexOf({ index }: JsonObject): string | undefined {
  const number = numberOf(index);
  return number === undefined ? filledString(index) : String(number);
}
