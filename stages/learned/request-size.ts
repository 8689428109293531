/**
 * Estimates the size of a whole request with the fixed estimator: its texts as sent, and everything
 * outside them. Called when a run has settled, never on the request path.
 */
import { isObject, listOf } from '../dialect/json-kind.ts';
import type { JsonObject } from '../dialect/json-kind.ts';
import type { ProxyRequest } from '../model/request.ts';
import { estimateTokens } from '../model/tokens.ts';
import { createToolSets } from './tool-sets.ts';
import type { ToolSets } from './tool-sets.ts';

/**
 * Returns the estimated input tokens of a request as sent; undefined if they cannot be
 * determined.
 */
export type RequestSize = (request: ProxyRequest) => number | undefined;

/** Members besides the messages whose text the model reads. */
const READ_MEMBERS = ['response_format', 'output_config', 'text'];
/** Members that refer to state held only by the provider. */
const ELSEWHERE = ['previous_response_id', 'conversation', 'container', 'context_management'];

/** Creates the estimator. Requests that compression did not read have no size. */
export function createRequestSize(toolSets: ToolSets = createToolSets()): RequestSize {
  return (request) => {
    const { original, report } = request;
    const { json } = original;
    if (report.estimatedAfter === undefined || !isObject(json)) return undefined;
    if (ELSEWHERE.some((name) => json[name] !== undefined && json[name] !== null)) return undefined;
    if (hasProviderTools(json) || original.blocks().some((block) => isUnreadable(block.kind)))
      return undefined;
    const otherMembers = READ_MEMBERS.map((name) => textSize(json[name]));
    const parts = [
      report.estimatedAfter,
      report.injectedTokens ?? 0,
      toolSets(request)?.size ?? 0,
      -(report.estimatedTools ?? 0),
      ...otherMembers,
    ];
    return parts.reduce((sum, part) => sum + part, 0);
  };
}

/** Returns true for blocks of unknown size: media are billed by pixels and pages. */
function isUnreadable(kind: string): boolean {
  return kind === 'image' || kind === 'document' || kind === 'other';
}

/** Returns true if a tool runs at the provider, which adds its results to the input. */
function hasProviderTools(json: JsonObject): boolean {
  return listOf(json['tools']).some((tool) => {
    const type = isObject(tool) ? tool['type'] : undefined;
    return type !== undefined && type !== 'custom' && type !== 'function';
  });
}

function textSize(value: unknown): number {
  return value === undefined ? 0 : estimateTokens(JSON.stringify(value));
}
