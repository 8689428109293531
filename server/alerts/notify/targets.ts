/** Where an alert is sent: webhooks and commands, and what of them may be named. */
import { basename } from 'node:path';

export const TEMPLATES = ['slack', 'discord', 'json'] as const;
export type Template = (typeof TEMPLATES)[number];

/** A server that gets a POST for each piece of news. */
export interface WebhookTarget {
  readonly kind: 'webhook';
  /** A secret, never shown: anyone with it can post to the channel. */
  readonly url: string;
  readonly template: Template;
  /** Key of the signature; null sends none. */
  readonly secret: string | null;
}

/** A program that is started for each piece of news, without a shell. */
export interface CommandTarget {
  readonly kind: 'command';
  readonly argv: readonly string[];
}

export type NotifyTarget = WebhookTarget | CommandTarget;

/** What may be shown of a target: the host of an address, the file name of a program. */
export function targetName(target: NotifyTarget): string {
  return target.kind === 'webhook'
    ? `webhook ${new URL(target.url).host}`
    : `command ${basename(target.argv[0] ?? '')}`;
}

/** The texts of a target that may be written nowhere: the address, its path alone, and the key. */
export function targetSecrets(target: NotifyTarget): readonly string[] {
  if (target.kind === 'command') return [];
  const { pathname, search, username, password } = new URL(target.url);
  const path = `${pathname}${search}`;
  return [target.url, target.secret ?? '', password, username, path.length > 8 ? path : ''].filter(
    (text) => text !== '',
  );
}

/** The shape that the server at `url` takes, by its host. */
export function templateOf(url: string): Template {
  const { hostname, pathname } = new URL(url);
  if (/(?:^|\.)slack(?:-gov)?\.com$/.test(hostname)) return 'slack';
  if (/(?:^|\.)discord(?:app)?\.com$/.test(hostname) && !pathname.endsWith('/slack'))
    return 'discord';
  return 'json';
}
