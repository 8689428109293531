/**
 * Reads two bodies in the plainest way, without the code under test: which of their texts
 * may be made smaller, whether every other byte is the same, and what the calls, results
 * and cache markers of a conversation are.
 */
import { splitAt } from './literals.corpus.ts';

type Json = Readonly<Record<string, unknown>>;

/** A text that may be rewritten, by where it stands. */
export interface OpenText {
  /** As a JSON pointer without the first slash: `messages/4/content/0/text`. */
  readonly place: string;
  readonly text: string;
  /** True for what a user sent: its last paragraph is theirs. */
  readonly isUser: boolean;
}

/** Short user text counts as typed; errors up to this length are acted upon to the letter. */
const TYPED_CHARS = 2000;
const ERROR_CHARS = 8000;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Every text that the rules leave open to compression; all else of a body is protected. */
export function openTexts(dialect: string, body: unknown): readonly OpenText[] {
  if (!isObject(body)) return [];
  const found: OpenText[] = [];
  const take = (place: string, text: unknown, part: unknown, isUser: boolean): void => {
    if (typeof text !== 'string' || (isUser && text.length <= TYPED_CHARS)) return;
    if (isObject(part) && (part['citations'] !== undefined || part['annotations'] !== undefined))
      return;
    found.push({ place, text, isUser });
  };
  const takeAll = (place: string, content: unknown, isUser: boolean): void => {
    take(place, content, undefined, isUser);
    for (const [at, part] of list(content).entries())
      if (isObject(part) && /^(?:input_|output_)?text$/.test(String(part['type'])))
        take(`${place}/${at}/text`, part['text'], part, isUser);
  };
  if (dialect === 'messages') messagesTexts(body, takeAll);
  else if (dialect === 'chat') chatTexts(body, takeAll);
  else if (dialect === 'responses') responsesTexts(body, takeAll);
  return found;
}

type TakeAll = (place: string, content: unknown, isUser: boolean) => void;

function messagesTexts(body: Json, takeAll: TakeAll): void {
  for (const [i, message] of list(body['messages']).entries()) {
    if (!isObject(message) || message['role'] !== 'user') continue;
    const place = `messages/${i}/content`;
    takeAll(place, message['content'], true);
    for (const [j, part] of list(message['content']).entries()) {
      if (!isObject(part) || part['type'] !== 'tool_result') continue;
      const { content } = part;
      const said = typeof content === 'string' ? [content] : list(content).map(textOf);
      if (part['is_error'] === true && said.every((text) => text.length <= ERROR_CHARS)) continue;
      takeAll(`${place}/${j}/content`, content, false);
    }
  }
}

const textOf = (part: unknown): string =>
  isObject(part) && typeof part['text'] === 'string' ? part['text'] : '';

function chatTexts(body: Json, takeAll: TakeAll): void {
  for (const [i, message] of list(body['messages']).entries()) {
    if (!isObject(message)) continue;
    const { role } = message;
    if (role === 'user' || role === 'tool' || role === 'function')
      takeAll(`messages/${i}/content`, message['content'], role === 'user');
  }
}

function responsesTexts(body: Json, takeAll: TakeAll): void {
  takeAll('input', typeof body['input'] === 'string' ? body['input'] : undefined, true);
  for (const [i, item] of list(body['input']).entries()) {
    if (!isObject(item)) continue;
    const type = item['type'] ?? 'message';
    if (type === 'message' && item['role'] === 'user')
      takeAll(`input/${i}/content`, item['content'], true);
    else if (typeof type === 'string' && type.endsWith('_call_output'))
      takeAll(`input/${i}/output`, item['output'], false);
  }
}

/** What two bodies differ in beyond the open texts. Empty where nothing else changed. */
export function changesOutside(
  before: Buffer,
  after: Buffer,
  open: readonly OpenText[],
): readonly string[] {
  if (before.equals(after)) return [];
  const places = new Set(open.map(({ place }) => place));
  const [was, is] = [splitAt(before, places), splitAt(after, places)];
  const faults = open.flatMap(({ place, text, isUser }) => {
    const now = is.values.get(place);
    if (now === undefined) return [`${place}: the text is gone`];
    return isUser && !now.endsWith(lastParagraph(text))
      ? [`${place}: the last paragraph of what the user sent is another`]
      : [];
  });
  if (was.rest !== is.rest) faults.push(`${firstDifference(was, is)}: protected bytes differ`);
  return faults;
}

function lastParagraph(text: string): string {
  const start = text.lastIndexOf('\n\n', text.trimEnd().length - 1);
  return text.slice(start + 2);
}

type Split = ReturnType<typeof splitAt>;

/** The place of the last string before the first byte that differs. */
function firstDifference(was: Split, is: Split): string {
  let at = 0;
  while (was.rest[at] === is.rest[at]) at += 1;
  return was.placeAt(at);
}

/** What must keep its order: who calls, who answers, and where the cache markers stand. */
export interface Structure {
  /** Calls and results in order, each with its id. */
  readonly pairing: readonly string[];
  /** Results that answer a call further up. */
  readonly answered: number;
  /** Cache markers, each with its place. */
  readonly markers: readonly string[];
}

const ID_FIELDS = ['tool_use_id', 'tool_call_id', 'call_id', 'id'];
const RESULT = /^(?:tool_result|\w+_tool_result|\w+_call_output)$/;
const CALL = /^(?:tool_use|\w+_tool_use|\w+_call|function)$/;

/** Reads the structure of a body of any dialect by the names of its fields. */
export function structureOf(body: unknown): Structure {
  const pairing: string[] = [];
  const markers: string[] = [];
  const calls = new Set<string>();
  let answered = 0;
  const visit = (value: unknown, place: string): void => {
    if (Array.isArray(value)) value.forEach((item, at) => visit(item, `${place}/${at}`));
    if (!isObject(value)) return;
    if (value['cache_control'] !== undefined)
      markers.push(`${place} ${JSON.stringify(value['cache_control'])}`);
    const type = String(value['role'] === 'tool' ? 'tool_result' : value['type']);
    const id = ID_FIELDS.map((field) => value[field]).find((each) => typeof each === 'string');
    if (typeof id === 'string' && (RESULT.test(type) || CALL.test(type))) {
      pairing.push(`${place} ${type} ${id}`);
      if (!RESULT.test(type)) calls.add(id);
      else if (calls.has(id)) answered += 1;
    }
    for (const [name, member] of Object.entries(value)) visit(member, `${place}/${name}`);
  };
  visit(body, '');
  return { pairing, answered, markers };
}
