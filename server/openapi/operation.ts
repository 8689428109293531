/** What an operation is, and what descriptions of them are made of. */
import { text } from './schema.ts';
import type { Schema } from './schema.ts';

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly description: string;
  readonly schema: Schema;
}

/** What an operation does, behind its method and path. */
interface Description {
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly request?: Schema;
  /** The body of the response that goes well, by media type; left out where it has no body. */
  readonly response?: Readonly<Record<string, Schema>>;
  /** Statuses of error responses besides those that every path has. */
  readonly errors?: readonly number[];
  /** True for what anybody may ask; false needs `X-Svc-Key` from elsewhere than this machine. */
  readonly isPublic?: boolean;
}

type Method = 'get' | 'post' | 'head';
type Tag = 'Look' | 'Vault' | 'Control' | 'Proxied';

export interface Operation extends Description {
  readonly method: Method;
  /** As the router spells it: `:id` for a segment of anything. */
  readonly path: string;
  readonly tag: Tag;
}

/** The operations of a tag, by method and path. */
export function under(
  tag: Tag,
  operations: Readonly<Record<`${Method} /${string}`, Description>>,
): readonly Operation[] {
  return Object.entries(operations).map(([name, description]) => {
    const [method, path] = name.split(' ') as [Method, string];
    return { method, path, tag, ...description };
  });
}

export const parameterIn =
  (where: Parameter['in']) =>
  (name: string, description: string, schema: Schema = text): Parameter => ({
    name,
    in: where,
    description,
    schema,
  });

export const json = (schema: Schema) => ({ 'application/json': schema });

export const inQuery = parameterIn('query');
export const inPath = parameterIn('path');
export const inHeader = parameterIn('header');
