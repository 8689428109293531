/**
 * Fills a prompt template for a request that names one: `x-svc-template: NAME`, with the values in
 * `x-svc-template-vars` as a JSON object, or the member `svc_template` of the body, a name or
 * `{"name": …, "vars": {…}}`. The user's last text is the variable `input`; a template without it
 * is placed above that text. All later stages see the request as if the client had sent it that
 * way.
 */
import { SvcError, defineStage } from '../../engine/index.ts';
import type { Block } from '../model/block.ts';
import type { BodyFrame } from '../model/body.ts';
import type { ProxyFrame, RequestFrame } from '../model/frame.ts';
import { headerValue, withoutHeaders } from '../model/headers.ts';
import { isRewritable, toRequest } from '../model/request.ts';
import type { ProxyRequest } from '../model/request.ts';
import { isObject, parseJson } from '../dialect/json-kind.ts';
import type { Services } from '../services.ts';
import { loadTemplate } from '../templates/files.ts';
import { fillTemplate } from '../templates/template.ts';
import { findSpans } from '../wire/json-path.ts';
import { splice } from '../wire/splice.ts';
import { withoutMembers } from '../wire/members.ts';

const TEMPLATE_HEADER = 'x-svc-template';
const VALUES_HEADER = 'x-svc-template-vars';
/** The body member equivalent to both headers. */
const TEMPLATE_FIELD = 'svc_template';
/** The variable for the user's last text. */
const INPUT = 'input';

export interface TemplateConfig {
  /** The folder of the files; it need not exist. */
  readonly folder: string;
}

/** Throws `bad_request` for a template that it cannot fill. */
export const template = defineStage<ProxyFrame, TemplateConfig, Services>({
  name: 'template',
  build: ({ folder }) => ({
    on: {
      request({ request }, ctx): Promise<RequestFrame> | undefined {
        // A client may send its headers with each request, even without a text to fill in.
        if (isNotATurn(request)) return undefined;
        const requested = requestedTemplate(request);
        if (requested === undefined) return undefined;
        if (!isRewritable(request)) throw unchanged(requested.by);
        return fill(request, requested, folder).then((filled) => {
          ctx.note('template', requested.name);
          return Object.freeze({ kind: 'request', request: filled });
        });
      },
    },
  }),
});

/** Returns true for requests that are not a conversation turn: token counts, model lists, files. */
function isNotATurn({ original: { endpoint } }: ProxyRequest): boolean {
  return endpoint.operation !== 'generate' || !endpoint.isConversation;
}

async function fill(
  request: ProxyRequest,
  { name, by, values }: TemplateRequest,
  folder: string,
): Promise<ProxyRequest> {
  const loaded = await loadTemplate(folder, name).catch((thrown: unknown) => {
    // The request's content is at fault, not its URL.
    throw thrown instanceof SvcError && thrown.kind === 'not_found' ? bad(thrown.message) : thrown;
  });
  const block = lastTyped(request, by);
  const takesInput = loaded.variables.some((each) => each.name === INPUT);
  if (takesInput) values.set(INPUT, block.text);
  const filled = fillTemplate(loaded, values);
  const text = takesInput ? filled : `${filled.trimEnd()}\n\n${block.text}`;
  return withText(request, block, text);
}

const bad = (message: string): SvcError => new SvcError('bad_request', message);

const unchanged = (by: TemplateRequest['by']): SvcError =>
  bad(
    `${by}: this request goes out as it came in, so no template can be filled; send it without a template, or without what keeps it unchanged (\`x-svc-bypass\`, \`svc pause\`, a subscription, too many values to be parsed, a path or provider that takes no rewriting)`,
  );

/** A template that a request names, and where it is named. */
interface TemplateRequest {
  readonly by: typeof TEMPLATE_HEADER | typeof TEMPLATE_FIELD;
  readonly name: string;
  readonly values: Map<string, string>;
}

function requestedTemplate({ original }: ProxyRequest): TemplateRequest | undefined {
  const { headers } = original.body;
  const name = headerValue(headers, TEMPLATE_HEADER)?.trim();
  const header = headerValue(headers, VALUES_HEADER);
  const field = fieldOf(original);
  if (name !== undefined || header !== undefined) {
    if (field.length > 0)
      throw bad(
        `${TEMPLATE_FIELD} and ${TEMPLATE_HEADER} both ask for a template; send one of them`,
      );
    if (name === undefined)
      throw bad(`${VALUES_HEADER} is sent without ${TEMPLATE_HEADER}, which names a template`);
    return { by: TEMPLATE_HEADER, name, values: valuesOfHeader(header) };
  }
  return field.length === 0 ? undefined : templateOfField(field[0]);
}

const FIELD_BYTES = Buffer.from(JSON.stringify(TEMPLATE_FIELD));

/**
 * Returns the member's value in a list, empty without it. Throws for a body that was not parsed.
 */
function fieldOf({ body, endpoint, json }: ProxyRequest['original']): readonly unknown[] {
  if (isObject(json)) return Object.hasOwn(json, TEMPLATE_FIELD) ? [json[TEMPLATE_FIELD]] : [];
  const { bytes } = body;
  const mayHold = json === undefined && endpoint.rewritable && bytes.includes(FIELD_BYTES);
  if (mayHold && findSpans(bytes, [[TEMPLATE_FIELD]])[0] !== undefined)
    throw unchanged(TEMPLATE_FIELD);
  return [];
}

function templateOfField(field: unknown): TemplateRequest {
  const expectation = `${TEMPLATE_FIELD}: must be the name of a template, or {"name":"review","vars":{"language":"Go"}}`;
  const { name, vars, ...more } = isObject(field) ? field : { name: field };
  const values = vars === undefined ? new Map<string, string>() : textsOf(vars);
  if (typeof name !== 'string' || values === undefined || Object.keys(more).length > 0)
    throw bad(expectation);
  return { by: TEMPLATE_FIELD, name: name.trim(), values };
}

function valuesOfHeader(header: string | undefined): Map<string, string> {
  const expectation = `${VALUES_HEADER}: must be a JSON object of strings, such as {"language":"Go"}; write non-ASCII characters as \\u escapes`;
  if (header === undefined) return new Map();
  const values = textsOf(parseJson(header));
  if (values === undefined) throw bad(expectation);
  return values;
}

/** Returns the members of an object of texts, numbers and booleans; undefined for anything else. */
function textsOf(json: unknown): Map<string, string> | undefined {
  if (!isObject(json)) return undefined;
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(json)) {
    if (!['string', 'number', 'boolean'].includes(typeof value)) return undefined;
    values.set(name, String(value));
  }
  return values;
}

/** Returns the user's last text, with its path in the body. */
function lastTyped(
  { original }: ProxyRequest,
  by: TemplateRequest['by'],
): Block & { readonly path: NonNullable<Block['path']> } {
  const block = original
    .blocks()
    .findLast(({ role, kind, path }) => role === 'user' && kind === 'text' && path !== undefined);
  if (block?.path !== undefined) return { ...block, path: block.path };
  throw bad(`${by}: the request has no text of the user that a template could take up`);
}

/**
 * Returns the same request with another text in one place: its bytes are those of a client that
 * wrote it so.
 */
function withText(
  { original, isVerbatim }: ProxyRequest,
  block: Block & { readonly path: NonNullable<Block['path']> },
  text: string,
): ProxyRequest {
  const { body, dialect, facts } = original;
  const [span] = findSpans(body.bytes, [block.path]);
  if (span === undefined) throw new SvcError('internal', 'A text has no place in the body');
  const filled = splice(body.bytes, [{ ...span, bytes: Buffer.from(JSON.stringify(text)) }]);
  const bytes = withoutMembers(filled, (name) => name === TEMPLATE_FIELD);
  const headers = withoutHeaders(body.headers, (name) => name === 'content-encoding');
  const written: BodyFrame = Object.freeze({ ...body, headers, bytes, wireBytes: bytes });
  const json: unknown = JSON.parse(bytes.toString('utf8'));
  return Object.freeze({ ...toRequest({ body: written, dialect, facts, json }), isVerbatim });
}
