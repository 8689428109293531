/** The targets of alerts: webhooks and commands, and how they may be named. */
import { basename } from 'node:path';

export const TEMPLATES = ['slack', 'discord', 'json'] as const;
export type Template = (typeof TEMPLATES)[number];

/** A server that receives a POST for each notice. */
export interface WebhookTarget {
  readonly kind: 'webhook';
  /** A secret, never shown: anyone with it can post to the channel. */
  readonly url: string;
  readonly template: Template;
  /** Signing key; null sends no signature. */
  readonly secret: string | null;
}

/** A program that is started for each notice, without a shell. */
export interface CommandTarget {
  readonly kind: 'command';
  readonly argv: readonly string[];
}

export type NotifyTarget = WebhookTarget | CommandTarget;

/** Returns the name shown for a target: the host of an address, or the file name of a program. */
export function targetName(target: NotifyTarget): string {
  return target.kind === 'webhook'
    ? `webhook ${new URL(target.url).host}`
    : `command ${basename(target.argv[0] ?? '')}`;
}

/** Returns the secret texts of a target: the address, its path alone, and the signing key. */
export function targetSecrets(target: NotifyTarget): readonly string[] {
  if (target.kind === 'command') return [];
  const { pathname, search, username, password } = new URL(target.url);
  const path = `${pathname}${search}`;
  return [target.url, target.secret ?? '', password, username, path.length > 8 ? path : ''].filter(
    (text) => text !== '',
  );
}

/** Returns the body format for the server at `url`, by its host. */
export function templateOf(url: string): Template {
  const { hostname, pathname } = new URL(url);
  if (/(?:^|\.)slack(?:-gov)?\.com$/.test(hostname)) return 'slack';
  if (/(?:^|\.)discord(?:app)?\.com$/.test(hostname) && !pathname.endsWith('/slack'))
    return 'discord';
  return 'json';
}
