/** Recorded requests to the other dialects: by the rules of the target, and read back again. */
import { isDeepStrictEqual } from 'node:util';
import type {
  CanonicalBlock,
  CanonicalRequest,
  DocumentBlock,
  ImageBlock,
  TextBlock,
  TranslatableDialect,
} from './canonical.ts';
import { chatTranslation } from './chat/translate-dialect.ts';
import { generativeTranslation } from './generative/translate-dialect.ts';
import { messagesTranslation } from './messages/translate-dialect.ts';
import { responsesTranslation } from './responses/translate-dialect.ts';
import type { DialectTranslation } from './translate-dialect.ts';
import { objectOf, parseArguments, parseJson } from './translate-json.ts';
import { prepareRequest } from './translate-prepare.ts';
import { requestFaults } from './translate-shape.corpus.ts';
import { createSignatureCache, translateRequest } from './translate.ts';

export interface RecordedRequest {
  readonly id: string;
  readonly kind: string;
  readonly uri: string;
  readonly response_status: number;
  readonly body: string;
}

export interface RequestVerdict {
  readonly outcome: 'same' | 'skip' | 'wrong';
  readonly why?: string;
}

const KINDS: { readonly [kind: string]: TranslatableDialect } = {
  'anthropic-request': 'messages',
  'openai-request': 'chat',
  'openai-responses-request': 'responses',
  'gemini-request': 'generative',
};

const DIALECTS: Record<TranslatableDialect, DialectTranslation> = {
  messages: messagesTranslation,
  chat: chatTranslation,
  generative: generativeTranslation,
  responses: responsesTranslation,
};

export function requestDialectOf(kind: string): TranslatableDialect | undefined {
  return KINDS[kind];
}

export function checkRequest(
  record: RecordedRequest,
  from: TranslatableDialect,
  to: TranslatableDialect,
): RequestVerdict {
  const body = parseJson(record.body);
  const target = targetOf(record, from);
  const signatures = createSignatureCache();
  const translated = translateRequest(from, to, body, { target, signatures });
  if ('skip' in translated) return { outcome: 'skip', why: translated.skip };
  const faults = record.response_status < 400 ? requestFaults(to, translated.body) : [];
  if (faults.length > 0) return { outcome: 'wrong', why: faults.join('; ') };
  const silent = { note: () => undefined, providerTools: 'skip' as const };
  const wire = parseJson(JSON.stringify(translated.body));
  const read = (dialect: TranslatableDialect, value: unknown, path: string): CanonicalRequest =>
    DIALECTS[dialect].readRequest(objectOf(value), { ...silent, target: path });
  const prepare = (request: CanonicalRequest): CanonicalRequest =>
    prepareRequest(request, DIALECTS[to], () => undefined).request;
  const asked = prepare(read(from, body, target));
  const again = prepare(read(to, wire, translated.path));
  const why = differs(asked, again, to) ?? unsaid(asked, again, translated.notes);
  return why === undefined ? { outcome: 'same' } : { outcome: 'wrong', why };
}

/** Some recordings name their model in a body of Vertex or on another host; the path is what we read. */
function targetOf(record: RecordedRequest, from: TranslatableDialect): string {
  if (from !== 'generative') return '/';
  const { pathname, search } = new URL(record.uri);
  return pathname.includes('/models/') ? pathname + search : '/v1beta/models/any:generateContent';
}

function differs(
  asked: CanonicalRequest,
  again: CanonicalRequest,
  to: TranslatableDialect,
): string | undefined {
  const left = comparable(asked, to);
  const right = comparable(again, to);
  for (const key of Object.keys(left)) {
    if (isDeepStrictEqual(left[key], right[key])) continue;
    return `${key}: ${JSON.stringify(left[key])} became ${JSON.stringify(right[key])}`;
  }
  return undefined;
}

/** What two requests have to agree on, in a shape that does not depend on how texts are cut. */
function comparable(request: CanonicalRequest, to: TranslatableDialect): Record<string, unknown> {
  const choice = request.tools.length === 0 ? undefined : request.toolChoice;
  const all = request.tools.length === choice?.only?.length && choice.only.length > 1;
  return {
    model: request.model,
    system: request.system.join('\n\n'),
    messages: request.messages.map(({ role, blocks }) => ({
      role,
      ...blocksOf(blocks, to, role === 'system' ? '\n\n' : ''),
    })),
    tools: request.tools.map(({ name, description, schema }) => ({
      name,
      description,
      schema: { type: 'object', ...schema },
    })),
    mode: choice?.mode ?? 'auto',
    only: choice?.mode === 'none' || (all && to === 'messages') ? undefined : choice?.only,
    // A generative model cannot be kept to one call at a time; the trace says so.
    parallel: to !== 'generative' && request.tools.length > 0 && request.parallelTools === false,
    stop: request.stop,
    stream: request.stream,
    format: request.responseFormat?.kind,
    schema: request.responseFormat?.kind === 'schema' ? request.responseFormat.schema : undefined,
  };
}

function blocksOf(
  blocks: readonly CanonicalBlock[],
  to: TranslatableDialect,
  joint: string,
): object {
  const results = blocks.filter((block) => block.kind === 'toolResult');
  const inside = results.flatMap((result) => result.content);
  const outside = blocks.filter(
    (block) => block.kind === 'text' || block.kind === 'image' || block.kind === 'document',
  );
  const media = [...inside, ...outside].flatMap(mediaOf);
  const marks = to === 'messages' || to === 'generative';
  return {
    // The line that names the call of attached media is the translation's own.
    text: outside
      .map(textOf)
      .join(joint)
      .replace(/Attached to the result of tool call \S+:/g, ''),
    media,
    calls: blocks.flatMap((block) =>
      block.kind === 'toolUse' ? [[block.id, block.name, parseArguments(block.input)]] : [],
    ),
    results: results.map((result) => [
      result.toolUseId,
      result.content
        .map(textOf)
        .filter((text) => text !== '')
        .join('\n'),
      marks && result.isError,
    ]),
  };
}

function textOf(block: TextBlock | ImageBlock | DocumentBlock): string {
  if (block.kind === 'text') return block.text;
  if (block.kind === 'image') return '';
  const { source } = block;
  if (source.from === 'text') return source.text;
  const isText = source.from === 'base64' && source.mediaType.startsWith('text/');
  return isText ? Buffer.from(source.data, 'base64').toString() : '';
}

function mediaOf(block: TextBlock | ImageBlock | DocumentBlock): unknown[] {
  if (block.kind === 'text' || textOf(block) !== '') return [];
  const { source } = block;
  return [source.from === 'url' ? source.url : source];
}

const SCALARS = ['maxOutputTokens', 'temperature', 'topP', 'topK', 'seed', 'reasoning'] as const;

/** A setting that is gone has to be in the notes; one that is there has to be the same, or noted. */
function unsaid(
  asked: CanonicalRequest,
  again: CanonicalRequest,
  notes: readonly string[],
): string | undefined {
  for (const key of SCALARS) {
    if (key === 'reasoning') continue;
    const [before, after] = [asked[key], again[key]];
    if (before === undefined || before === after) continue;
    if (notes.length === 0) return `${key}: ${before} became ${after} without a note`;
  }
  const thought = asked.reasoning?.on === true && asked.reasoning.effort !== undefined;
  if (thought && again.reasoning === undefined && notes.length === 0) {
    return 'reasoning lost without a note';
  }
  return undefined;
}
