/**
 * How large a whole request is for the fixed estimator: its texts as they went out, and
 * what stands outside them. It is asked when a run has settled, never on a request's way.
 */
import { isObject, listOf } from '../dialect/json-kind.ts';
import type { JsonObject } from '../dialect/json-kind.ts';
import type { ProxyRequest } from '../model/request.ts';
import { estimateTokens } from '../model/tokens.ts';
import { createToolSets } from './tool-sets.ts';
import type { ToolSets } from './tool-sets.ts';

/** Estimated input tokens of a request as it went out; undefined where they cannot be determined. */
export type RequestSize = (request: ProxyRequest) => number | undefined;

/** Members beside the messages whose text the model reads. */
const READ_MEMBERS = ['response_format', 'output_config', 'text'];
/** Members by which a request continues what only the provider has. */
const ELSEWHERE = ['previous_response_id', 'conversation', 'container', 'context_management'];

/** Makes the measure. Requests that compression did not read have no size. */
export function createRequestSize(toolSets: ToolSets = createToolSets()): RequestSize {
  return (request) => {
    const { original, report } = request;
    const { json } = original;
    if (report.estimatedAfter === undefined || !isObject(json)) return undefined;
    if (ELSEWHERE.some((name) => json[name] !== undefined && json[name] !== null)) return undefined;
    if (hasProviderTools(json) || original.blocks().some((block) => isUnreadable(block.kind)))
      return undefined;
    const beside = READ_MEMBERS.map((name) => textSize(json[name]));
    const parts = [
      report.estimatedAfter,
      report.injectedTokens ?? 0,
      toolSets(request)?.size ?? 0,
      -(report.estimatedTools ?? 0),
      ...beside,
    ];
    return parts.reduce((sum, part) => sum + part, 0);
  };
}

/** Media are billed by their pixels and pages; of unknown blocks nobody knows. */
function isUnreadable(kind: string): boolean {
  return kind === 'image' || kind === 'document' || kind === 'other';
}

/** A tool that the provider runs adds what it found to the input. */
function hasProviderTools(json: JsonObject): boolean {
  return listOf(json['tools']).some((tool) => {
    const type = isObject(tool) ? tool['type'] : undefined;
    return type !== undefined && type !== 'custom' && type !== 'function';
  });
}

function textSize(value: unknown): number {
  return value === undefined ? 0 : estimateTokens(JSON.stringify(value));
}
