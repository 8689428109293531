/** Which program sent a request, and for which skill, by its headers. */
import { LRUCache } from 'lru-cache';
import { headerValue } from '../model/headers.ts';
import type { Headers } from '../model/headers.ts';

/** Patterns for a client's user agent, more specific ones first. */
const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/claude-cli|claude-code/i, 'claude-code'],
  [/codex/i, 'codex'],
  [/cursor/i, 'cursor'],
  [/aider/i, 'aider'],
  [/cline/i, 'cline'],
  [/continue/i, 'continue'],
  [/gemini-?cli/i, 'gemini-cli'],
  [/^anthropic\//i, 'anthropic-sdk'],
  [/^openai\//i, 'openai-sdk'],
  [/google-genai|genai-js/i, 'google-genai-sdk'],
  [/litellm/i, 'litellm'],
  [/^curl\//i, 'curl'],
  [/python-requests|httpx|aiohttp/i, 'python'],
  [/undici|^node/i, 'node'],
];

/**
 * Returns the family of the client, such as `claude-code`; the first word of an unknown user agent;
 * null without one.
 */
export type ClientFamily = (headers: Headers) => string | null;

/** Returns the skill that a client says it works on, or null. */
export function clientSkill(headers: Headers): string | null {
  return headerValue(headers, 'x-svc-skill')?.trim() || null;
}

/** The same few programs send most requests. */
const MAX_AGENTS = 100;

/** Recognises families, and caches the user agents that it has seen. */
export function createClientFamily(): ClientFamily {
  const known = new LRUCache<string, { readonly family: string | null }>({ max: MAX_AGENTS });
  return (headers) => {
    if (headerValue(headers, 'x-claude-code-session-id') !== undefined) return 'claude-code';
    const agent = headerValue(headers, 'user-agent');
    if (agent === undefined || agent === '') return null;
    let entry = known.get(agent);
    if (entry === undefined) {
      entry = { family: familyOf(agent) };
      known.set(agent, entry);
    }
    return entry.family;
  };
}

function familyOf(agent: string): string | null {
  for (const [sign, family] of FAMILIES) if (sign.test(agent)) return family;
  return /^[\w.-]{1,40}/.exec(agent)?.[0].toLowerCase() ?? null;
}
