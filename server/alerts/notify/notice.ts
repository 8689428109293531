/** What is said of an alert, and the bodies in which webhooks take it. */
import type { AlertResult } from '../evaluate.ts';
import { alertText } from '../evaluate.ts';
import type { Template } from './targets.ts';

/** One piece of news, as the JSON that is sent. */
export interface Notice {
  readonly type: 'svc.alert';
  /** The same in each try, so that a receiver can leave out what it has already. */
  readonly id: string;
  readonly state: 'firing' | 'resolved' | 'test';
  readonly alert: string;
  readonly metric: string;
  /** What was measured; null where nothing was. */
  readonly value: number | null;
  readonly above: number | null;
  readonly below: number | null;
  /** Since when it fires; ISO 8601, UTC. */
  readonly since: string | null;
  /** When this was said; ISO 8601, UTC. */
  readonly at: string;
  readonly message: string | null;
  /** All of it in words. */
  readonly text: string;
}

/** Longest text in a chat; Discord refuses more than 2,000 characters. */
const MOST_CHARS = 1800;

const HEADINGS = {
  firing: 'svc alert',
  resolved: 'svc alert ended',
  test: 'svc test of an alert, nothing is wrong',
} as const satisfies Record<Notice['state'], string>;

/** What is said of `result` now; `id` names it. */
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

/** The body of a webhook, as JSON. */
export function noticeBody(notice: Notice, template: Template): string {
  const text = notice.text.slice(0, MOST_CHARS);
  // Names come from a configuration, but what they hold must not call everybody in the channel.
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
