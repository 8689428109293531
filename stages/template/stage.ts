/**
 * Fills a prompt template for a request that names one: `x-svc-template: NAME`, with the values in
 * `x-svc-template-vars` as a JSON object. What the user wrote last is the variable `input`; a
 * template without it stands above that text. All behind this stage see the request as if the
 * client had sent it so.
 */
import { SvcError, defineStage } from '../../engine/index.ts';
import type { Block } from '../model/block.ts';
import type { BodyFrame } from '../model/body.ts';
import type { ProxyFrame, RequestFrame } from '../model/frame.ts';
import { headerValue, withoutHeaders } from '../model/headers.ts';
import { isRewritable, toRequest } from '../model/request.ts';
import type { ProxyRequest } from '../model/request.ts';
import type { Services } from '../services.ts';
import { loadTemplate } from '../templates/files.ts';
import { fillTemplate } from '../templates/template.ts';
import { findSpans } from '../wire/json-path.ts';
import { splice } from '../wire/splice.ts';

const TEMPLATE_HEADER = 'x-svc-template';
const VALUES_HEADER = 'x-svc-template-vars';
/** The variable that what the user wrote last stands for. */
const INPUT = 'input';

export interface TemplateConfig {
  /** Where the files are; it need not exist. */
  readonly folder: string;
}

/** Throws `bad_request` for what it cannot fill. */
export const template = defineStage<ProxyFrame, TemplateConfig, Services>({
  name: 'template',
  build: ({ folder }) => ({
    on: {
      request({ request }, ctx): RequestFrame | undefined {
        const { headers } = request.original.body;
        const name = headerValue(headers, TEMPLATE_HEADER)?.trim();
        if (name === undefined) {
          if (headerValue(headers, VALUES_HEADER) === undefined) return undefined;
          throw bad(`${VALUES_HEADER} is sent without ${TEMPLATE_HEADER}, which names a template`);
        }
        if (!isRewritable(request))
          throw bad(
            `${TEMPLATE_HEADER}: this request goes out as it came in, so no template can be filled; send it without the header, or without what keeps it unchanged (\`x-svc-bypass\`, \`svc pause\`, a subscription, a path or provider that takes no rewriting)`,
          );
        const loaded = loadTemplate(folder, name);
        const block = lastTyped(request);
        const values = valuesOf(headerValue(headers, VALUES_HEADER));
        const takesInput = loaded.variables.some((each) => each.name === INPUT);
        if (takesInput) values.set(INPUT, block.text);
        const filled = fillTemplate(loaded, values);
        ctx.note('template', name);
        const text = takesInput ? filled : `${filled.trimEnd()}\n\n${block.text}`;
        return Object.freeze({ kind: 'request', request: withText(request, block, text) });
      },
    },
  }),
});

const bad = (message: string): SvcError => new SvcError('bad_request', message);

function valuesOf(header: string | undefined): Map<string, string> {
  const wanted = `${VALUES_HEADER}: a JSON object of texts is wanted, such as {"language":"Go"}; write what is not ASCII as \\u escapes`;
  if (header === undefined) return new Map();
  let json: unknown;
  try {
    json = JSON.parse(header);
  } catch {
    throw bad(wanted);
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw bad(wanted);
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(json)) {
    if (!['string', 'number', 'boolean'].includes(typeof value)) throw bad(wanted);
    values.set(name, String(value));
  }
  return values;
}

/** The text that the user wrote last, with a place in the body. */
function lastTyped({
  original,
}: ProxyRequest): Block & { readonly path: NonNullable<Block['path']> } {
  const block = original
    .blocks()
    .findLast(({ role, kind, path }) => role === 'user' && kind === 'text' && path !== undefined);
  if (block?.path !== undefined) return { ...block, path: block.path };
  throw bad(
    `${TEMPLATE_HEADER}: the request has no text of the user that a template could take up`,
  );
}

/** The same request with another text in one place: its bytes are those of a client that wrote it so. */
function withText(
  { original, isVerbatim }: ProxyRequest,
  block: Block & { readonly path: NonNullable<Block['path']> },
  text: string,
): ProxyRequest {
  const { body, dialect, facts } = original;
  const [span] = findSpans(body.bytes, [block.path]);
  if (span === undefined) throw new SvcError('internal', 'A text has no place in the body');
  const bytes = splice(body.bytes, [{ ...span, bytes: Buffer.from(JSON.stringify(text)) }]);
  const headers = withoutHeaders(body.headers, (name) => name === 'content-encoding');
  const written: BodyFrame = Object.freeze({ ...body, headers, bytes, wireBytes: bytes });
  const json: unknown = JSON.parse(bytes.toString('utf8'));
  return Object.freeze({ ...toRequest({ body: written, dialect, facts, json }), isVerbatim });
}
