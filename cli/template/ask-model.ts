/** Sends one question to a model, through the running proxy. */
import { SvcError } from '../../engine/error.ts';
import { isObject, parseJson } from '../../stages/dialect/json-kind.ts';
import { toReachableUrl } from '../address.ts';
import { homeOf } from '../context.ts';
import type { CliContext } from '../context.ts';
import { runningInstance } from '../process/daemon.ts';

const MAX_OUTPUT_TOKENS = 4096;

/**
 * Returns the text of the response. Throws `unavailable` if no proxy runs, `bad_gateway` with any
 * other response.
 */
export async function askModel(context: CliContext, model: string, text: string): Promise<string> {
  const url = runningInstance(homeOf(context))?.url;
  if (url === undefined)
    throw new SvcError('unavailable', 'svc is not running', {
      cure: '`svc start --background` starts it; without --model the text is printed.',
    });
  const isMessages = model.startsWith('claude');
  const path = isMessages ? '/v1/messages' : '/v1/chat/completions';
  const limit = isMessages ? { max_tokens: MAX_OUTPUT_TOKENS } : {};
  const response = await fetch(`${toReachableUrl(url)}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, ...limit, messages: [{ role: 'user', content: text }] }),
  }).catch((cause: unknown) => {
    throw new SvcError('unavailable', 'svc does not answer', {
      cause,
      cure: '`svc status` shows whether it runs.',
    });
  });
  const body = await response.text();
  const answer = response.ok ? textOf(body) : undefined;
  if (answer !== undefined) return answer;
  throw new SvcError('bad_gateway', `${model} answered ${response.status}: ${body.slice(0, 500)}`);
}

interface Answer {
  readonly content?: readonly { readonly text?: string }[];
  readonly choices?: readonly { readonly message?: { readonly content?: string | null } }[];
}

/** Returns the text of a response in either dialect; undefined if it is not one. */
function textOf(body: string): string | undefined {
  const answer = parseJson(body);
  if (!isObject(answer)) return undefined;
  const { content, choices } = answer as Answer;
  if (Array.isArray(content))
    return (content as NonNullable<Answer['content']>).map(({ text = '' }) => text).join('');
  return choices?.[0]?.message?.content ?? undefined;
}
