/** Why a block is sent unchanged, in words. */

const WORDS: Readonly<Record<string, string>> = {
  system: 'system prompt',
  assistant: 'written by the model',
  thinking: 'thinking',
  tool_call: 'tool call',
  media: 'image or document',
  citations: 'cited document',
  error_result: 'error result',
  'error-result': 'error result',
  typed: 'typed by the user',
  opaque: 'of a kind that svc does not read',
  kind: 'of a kind that is never rewritten',
  'below-threshold': 'conversation below the threshold',
  short: 'short',
  marked: 'compressed already',
  'no-gain': 'nothing to gain',
  'timed-out': 'took too long when it was first sent',
  undecided: 'not decided when it was first sent',
  strict: 'mode strict changes nothing',
};

/** Describes a compressor's reason in a few words. */
export function reasonWords(reason: string): string {
  return WORDS[reason] ?? reason;
}

/** Describes a block: which tool's result, or who wrote it. */
export function blockWords(kind: string, role: string, toolName: string | null): string {
  if (kind === 'tool_definition') return `definition of ${toolName}`;
  if (kind === 'tool_result') return toolName === null ? 'tool result' : `result of ${toolName}`;
  if (kind === 'text') return role === 'user' ? 'user text' : `${role} text`;
  return kind.replaceAll('_', ' ');
}
