/**
 * The generative dialect writes its fields in camel case and also accepts snake case; this reads
 * either.
 */
import type { JsonObject } from '../canonical.ts';
import { decodedName } from '../../model/target.ts';
import { isObject } from '../json-kind.ts';

/** Returns the value of `name` (camel case) in `object`, under either spelling. */
export function fieldOf(object: JsonObject, name: string): unknown {
  return object[name] ?? object[snake(name)];
}

export function objectField(object: JsonObject, name: string): JsonObject {
  const value = fieldOf(object, name);
  return isObject(value) ? value : {};
}

/** Returns the objects of a list field; the dialect also accepts a single object for a list. */
export function objectsField(object: JsonObject, name: string): JsonObject[] {
  const value = fieldOf(object, name);
  if (isObject(value)) return [value];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/**
 * Converts every key of `object` to camel case. Values are not changed: they may be the user's own
 * JSON.
 */
export function camelKeys(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [
      key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * Reads `…/models/<model>:<method>?alt=sse`; undefined for any other path. `events` is true if the
 * client wants its stream as events and not as one JSON array: `alt` is also accepted as `$alt`, the
 * name that Google's REST conventions give it.
 */
export function readGenerativeTarget(target: string) {
  const at = target.indexOf('/models/');
  if (at < 0) return undefined;
  const match = /^\/models\/([^?]+):([A-Za-z]+)(?:\?(.*))?$/.exec(target.slice(at));
  if (match === null) return undefined;
  const [, model, method, query] = match;
  const parameters = new URLSearchParams(query ?? '');
  const events = parameters.get('alt') === 'sse' || parameters.get('$alt') === 'sse';
  return { model: decodedName(model!), method: method!, events };
}
