/**
 * The blocks of a request: every piece of content of its messages, in the order in which the model
 * reads them, with what a stage needs to decide whether a block may be rewritten.
 */

export type BlockKind =
  | 'system'
  | 'text'
  | 'tool_use'
  | 'tool_result'
  | 'thinking'
  | 'image'
  | 'document'
  | 'other';

/** Why a block may not be rewritten. */
export type ProtectedReason =
  | 'system'
  | 'assistant'
  | 'thinking'
  | 'tool_call'
  | 'media'
  | 'citations'
  | 'error_result'
  | 'program'
  | 'typed'
  | 'opaque';

export type JsonPath = readonly (string | number)[];

export interface Block {
  /** Position in the request's list of blocks. */
  readonly index: number;
  /** Position of its message (or input item); -1 for a top-level system prompt. */
  readonly message: number;
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly kind: BlockKind;
  /** Path of the JSON string in the body that contains `text`; undefined if there is none. */
  readonly path: JsonPath | undefined;
  /** The text that the model reads; empty for a block without text of its own. */
  readonly text: string;
  /** For a tool result: the id of the call that it answers. */
  readonly toolUseId?: string;
  /** For a call and its result: the tool's name, if the conversation says it. */
  readonly toolName?: string;
  /** For a call and its result: the input of the call, as JSON text. */
  readonly toolInput?: string;
  readonly isError?: boolean;
  /**
   * True for a call that a program of the model makes at the provider, and for its result, which
   * that program reads in place of the model.
   */
  readonly isForProgram?: boolean;
  readonly hasCacheControl?: boolean;
  readonly hasCitations?: boolean;
}

/** Returns true for a block that a stage may change or append to. */
export function isEditable({ kind, role, path }: Block): boolean {
  return path !== undefined && (kind === 'tool_result' || (role === 'user' && kind === 'text'));
}
