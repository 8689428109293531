/**
 * Results of tools that the provider defines and the client runs: shells, patches, screens. Each
 * has its own members, which are read here as parts of a tool result.
 */
import type { JsonObject } from '../canonical.ts';
import { filledString, isObject, numberOf, objectOf, objectsOf, stringOf } from '../json-kind.ts';
import { readableText } from '../translate/readable.ts';

/**
 * Returns the ids of calls by the ids of their items: the output of a local shell names the item.
 */
export function callIdsOf(items: readonly JsonObject[]): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  for (const { id, call_id, type } of items) {
    const [own, call] = [filledString(id), filledString(call_id)];
    if (own !== undefined && call !== undefined && !isOutput(type)) ids.set(own, call);
  }
  return ids;
}

const isOutput = (type: unknown): boolean => typeof type === 'string' && type.endsWith('_output');

/** Returns the id of the call that an item makes or answers; undefined if it answers none. */
export function callIdOf(item: JsonObject, ids: ReadonlyMap<string, string>): string | undefined {
  const named = filledString(item.call_id);
  if (named !== undefined || !isOutput(item.type)) return named;
  const own = filledString(item.id);
  return own === undefined ? undefined : (ids.get(own) ?? own);
}

/** Returns the model's request as the arguments of a call. */
export function runInput({ action, actions, operation, input }: JsonObject): JsonObject {
  // A screen may get several actions at once.
  return Array.isArray(actions) ? { actions } : objectOf(action ?? operation ?? input);
}

/** Returns the parts of a result, and whether it reports a failed run. */
export function runResult(item: JsonObject): { parts: JsonObject[]; isError: boolean } {
  const isError = item.status === 'failed';
  const parts = partsOf(item.output);
  if (parts.length > 0) return { parts, isError };
  const text = readableText(item);
  return { parts: [toText(text === '' && isError ? 'failed' : text)], isError };
}

function partsOf(output: unknown): JsonObject[] {
  if (typeof output === 'string') return output === '' ? [] : [toText(output)];
  if (isObject(output)) return [isShown(output) ? toImage(output) : toText(readableText(output))];
  return objectsOf(output).map((part) => {
    if (isShown(part)) return toImage(part);
    return 'outcome' in part || 'stdout' in part || 'stderr' in part ? toText(ranText(part)) : part;
  });
}

const isShown = ({ type }: JsonObject): boolean => type === 'computer_screenshot';

function toImage({ image_url, file_id }: JsonObject): JsonObject {
  return { type: 'input_image', image_url, file_id };
}

function toText(text: string): JsonObject {
  return { type: 'input_text', text };
}

/** Returns a command's output, and how it ended if it failed. */
function ranText({ stdout, stderr, outcome }: JsonObject): string {
  const { type, exit_code } = objectOf(outcome);
  const code = numberOf(exit_code) ?? 0;
  const lines = [stringOf(stdout) ?? '', stringOf(stderr) ?? ''];
  if (type === 'timeout') lines.push('The command was stopped: its time was up.');
  else if (code !== 0) lines.push(`Exit code: ${code}`);
  return lines.filter((line) => line !== '').join('\n');
}
