/** Reads a file as a request, or as a part of one. */
import { basename } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import { asRequest } from '../../server/sessions/as-request.ts';
import { bodyKind } from '../../server/sessions/body-kind.ts';
import type { TranslatableDialect } from '../../stages/dialect/canonical.ts';
import type { ProxyRequest } from '../../stages/model/request.ts';
import { guessTool, toolNamed } from './assumed-tool.ts';
import type { AssumedTool } from './assumed-tool.ts';
import { isObject } from '../../stages/dialect/json-kind.ts';

/** How a file was interpreted. */
export interface RequestFile {
  readonly request: ProxyRequest;
  /** `text` is a file that is not a request body: it becomes a tool result in one. */
  readonly as: TranslatableDialect | 'text';
  /** The assumed tool of a text; null for a request body. */
  readonly tool: AssumedTool | null;
  readonly model: string | null;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * Recognizes a body by its shape; everything else, including other JSON, is treated as the result
 * of the tool named by `namedTool` (`Bash:npm test`), else of the one that it resembles. `ask` is
 * the question before it.
 */
export function toRequestFile(
  text: string,
  path: string,
  ask: string,
  namedTool?: string,
): RequestFile {
  if (text.trim() === '') throw new SvcError('bad_request', `${path} is empty`);
  const json = parse(text);
  const kind = json === undefined ? undefined : bodyKind(json);
  if (json !== undefined && kind !== undefined && namedTool === undefined) {
    const model = typeof json['model'] === 'string' ? json['model'] : null;
    return { request: asRequest(kind, json, text), as: kind, tool: null, model };
  }
  const tool = namedTool === undefined ? guessTool(text, basename(path)) : toolNamed(namedTool);
  const body = toolResult(text, tool, ask);
  const request = asRequest('messages', body, JSON.stringify(body));
  return { request, as: 'text', tool, model: null };
}

function toolResult(text: string, { name, input }: AssumedTool, ask: string): Json {
  const call = { type: 'tool_use', id: 'preview', name, input };
  return {
    messages: [
      { role: 'user', content: ask },
      { role: 'assistant', content: [call] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'preview', content: text }],
      },
    ],
  };
}

function parse(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
