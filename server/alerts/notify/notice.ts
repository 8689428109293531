/** The notice of an alert, and its webhook bodies. */
import type { AlertResult } from '../evaluate.ts';
import { alertText } from '../evaluate.ts';
import type { Template } from './targets.ts';

/** One notice, as the JSON that is sent. */
export interface Notice {
  readonly type: 'svc.alert';
  /** The same for every attempt, so that a receiver can discard duplicates. */
  readonly id: string;
  readonly state: 'firing' | 'resolved' | 'test';
  readonly alert: string;
  readonly metric: string;
  /** Measured value; null if there was nothing to measure. */
  readonly value: number | null;
  readonly above: number | null;
  readonly below: number | null;
  /** Since when it fires; ISO 8601, UTC. */
  readonly since: string | null;
  /** Time of the notice; ISO 8601, UTC. */
  readonly at: string;
  readonly message: string | null;
  /** The whole notice as text. */
  readonly text: string;
}

/** Longest chat text; Discord refuses more than 2,000 characters. */
const MAX_CHARS = 1800;

const HEADINGS = {
  firing: 'svc alert',
  resolved: 'svc alert ended',
  test: 'svc test of an alert, nothing is wrong',
} as const satisfies Record<Notice['state'], string>;

/** Returns the notice for `result`, with the given `id`. */
export function toNotice(
  result: AlertResult,
  state: Notice['state'],
  { id, nowMs }: { readonly id: string; readonly nowMs: number },
): Notice {
  const { rule, value, sinceMs } = result;
  return {
    type: 'svc.alert',
    id,
    state,
    alert: rule.name,
    metric: rule.metric,
    value,
    above: rule.above,
    below: rule.below,
    since: sinceMs === null ? null : new Date(sinceMs).toISOString(),
    at: new Date(nowMs).toISOString(),
    message: rule.message,
    text: `${HEADINGS[state]}: ${alertText(result)}`,
  };
}

/** Returns the JSON body of a webhook. */
export function noticeBody(notice: Notice, template: Template): string {
  const text = notice.text.slice(0, MAX_CHARS);
  // Names come from a configuration, but must not mention everybody in the channel.
  const shapes = {
    slack: () => ({ text: escapeSlack(text) }),
    discord: () => ({ content: text, allowed_mentions: { parse: [] } }),
    json: () => notice,
  } satisfies Record<Template, () => object>;
  return JSON.stringify(shapes[template]());
}

/** The three characters that make mentions and links in Slack's messages. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
