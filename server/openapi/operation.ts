/** The type of an operation, and the parts of its description. */
import { text } from './schema.ts';
import type { Schema } from './schema.ts';

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly description: string;
  readonly schema: Schema;
}

/** Description of an operation, without its method and path. */
interface Description {
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly request?: Schema;
  /** Body of the success response, by media type; absent if it has none. */
  readonly response?: Readonly<Record<string, Schema>>;
  /** Statuses of error responses besides those of every path. */
  readonly errors?: readonly number[];
  /** True for a public path; otherwise `X-Svc-Key` is needed from other machines. */
  readonly isPublic?: boolean;
}

type Method = 'get' | 'post' | 'head';
type Tag = 'Look' | 'Vault' | 'Control' | 'Proxied';

export interface Operation extends Description {
  readonly method: Method;
  /** As the router spells it: `:id` matches any one segment. */
  readonly path: string;
  readonly tag: Tag;
}

/** Returns the operations of a tag, by method and path. */
export function withTag(
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
