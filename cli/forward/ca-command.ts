/** `svc ca`: the certificate authority of forward mode. */
import { Command, Option } from 'clipanion';
import { SvcError } from '../../engine/error.ts';
import {
  forwardFiles,
  hasAuthority,
  makeAuthority,
  readAuthority,
  removeAuthority,
} from '../../server/forward-proxy/ca/files.ts';
import type { StoredAuthority } from '../../server/forward-proxy/ca/files.ts';
import { JsonCommand } from '../command.ts';
import { shortPath } from '../context.ts';
import { counted } from '../screen/output.ts';
import { forwardedId } from '../integrate/forward.ts';
import { readIntegrations } from '../integrate/records.ts';
import { DAY_MS, configuredHosts, tunnelledRemarks } from './authority.ts';
import type { ConfiguredHosts } from './authority.ts';
import { renewLists } from './certificate-lists.ts';

const category = 'Configure';

abstract class AuthorityCommand extends JsonCommand {
  /** Prints an authority's details, and the configured providers that it does not serve. */
  protected show(authority: StoredAuthority, configured: ConfiguredHosts): number {
    const { context, home } = this;
    const { hosts, expiresMs, fingerprint } = authority;
    const { tunnelled } = configured;
    const uncovered = configured.hosts.filter((host) => !hosts.includes(host));
    const { certificate } = forwardFiles(home);
    const expires = new Date(expiresMs).toISOString();
    if (this.json) {
      this.printJson({ certificate, hosts, uncovered, unopened: tunnelled, expires, fingerprint });
      return 0;
    }
    const days = Math.round((expiresMs - context.clock.wallMs()) / DAY_MS);
    const left = days < 0 ? 'expired' : `${counted(days, 'day')} left`;
    // In two halves, so that it fits next to the names.
    const middle = (fingerprint.length + 1) / 2;
    this.printPairs([
      ['Certificate', shortPath(certificate, context)],
      ['Vouches for', hosts[0] ?? 'nothing'],
      ...hosts.slice(1).map((host) => ['', host] as const),
      ['Expires', `${expires.slice(0, 10)} (${left})`],
      ['SHA-256', fingerprint.slice(0, middle)],
      ['', fingerprint.slice(middle)],
    ]);
    for (const host of uncovered)
      this.note(
        `${host} is not covered: it is tunnelled without being decrypted. \`svc ca create --force\` covers it.`,
      );
    for (const remark of tunnelledRemarks(tunnelled)) this.note(remark);
    return 0;
  }
}

class CaCreate extends AuthorityCommand {
  static override paths = [['ca', 'create']];
  static override usage = Command.Usage({
    category,
    description: 'Make the certificate authority of forward mode',
    details:
      'Its key stays in the home folder, readable only by you. It can sign certificates for the hosts of your providers and for nothing else: clients enforce its name constraints. No trust store is changed; `svc run --forward` creates an authority if there is none, and passes it to each client.',
    examples: [['Replace one that is about to expire', '$0 ca create --force']],
  });

  force = Option.Boolean('--force', false, { description: 'Replace the existing one' });

  async execute() {
    const { context, home } = this;
    if (hasAuthority(home) && !this.force)
      throw new SvcError('conflict', 'A certificate authority already exists', {
        cure: '`svc ca show` describes it; --force replaces it, and running clients must be restarted.',
      });
    const configured = await configuredHosts(context);
    const authority = await makeAuthority(home, configured.hosts, context.clock.wallMs());
    // Clients set up by `svc integrate --forward` find the new one at their next start.
    renewLists({ env: context.env, home, authorityPem: authority.certificatePem });
    if (!this.json) this.note('Made a certificate authority; `svc run --forward claude` uses it.');
    if (this.force && !this.json) this.note('Running clients must be restarted.');
    return this.show(authority, configured);
  }
}

class CaShow extends AuthorityCommand {
  static override paths = [['ca', 'show'], ['ca']];
  static override usage = Command.Usage({
    category,
    description: 'Show the certificate authority of forward mode',
    details:
      'The hosts it covers, its expiry, and the configured hosts that it does not cover: those are tunnelled without being decrypted.',
    examples: [['Its certificate', '$0 ca show --pem']],
  });

  pem = Option.Boolean('--pem', false, { description: 'The certificate itself' });

  async execute() {
    const { context, home } = this;
    const authority = await readAuthority(home);
    if (authority === undefined)
      throw new SvcError('not_found', 'There is no certificate authority', {
        cure: '`svc ca create` makes one; `svc run --forward` does so itself.',
      });
    if (this.pem) {
      context.stdout.write(authority.certificatePem);
      return 0;
    }
    const configured = await configuredHosts(context).catch((thrown: unknown) => {
      if (thrown instanceof SvcError) return { hosts: [], tunnelled: [] };
      throw thrown;
    });
    return this.show(authority, configured);
  }
}

class CaRemove extends JsonCommand {
  static override paths = [['ca', 'remove']];
  static override usage = Command.Usage({
    category,
    description: 'Remove the authority and the tokens of forward mode',
    details:
      'Nothing of forward mode remains: the certificate was never in a trust store. Clients started with it lose their connection to the providers; restart them without --forward.',
    examples: [['Remove it', '$0 ca remove']],
  });

  execute() {
    const { context, home } = this;
    const { folder } = forwardFiles(home);
    const removed = removeAuthority(home);
    if (this.json) this.printJson({ removed, folder });
    else if (removed) this.print(`Removed ${shortPath(folder, context)}.`);
    else this.print('There is no certificate authority.');
    for (const { client } of readIntegrations(home).entries) {
      const id = forwardedId(client);
      if (id !== undefined)
        this.note(
          `${id} still goes through it and cannot connect: \`svc integrate ${id} --forward --undo\`.`,
        );
    }
    return Promise.resolve(0);
  }
}

export const commands = [CaCreate, CaShow, CaRemove];
