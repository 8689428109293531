/** Checks the running proxy, or the ports that one would need, and the clients that use it. */
import { isSvcError } from '../../engine/error.ts';
import { readAuthority } from '../../server/forward-proxy/ca/files.ts';
import { toListenError } from '../../server/http/listen.ts';
import { toReachableUrl } from '../address.ts';
import { runningInstance } from '../process/daemon.ts';
import { urlOf } from '../integrate/proxy-address.ts';
import { readWiring } from '../integrate/wiring.ts';
import { listenError, ownerOf } from '../process/port-owner.ts';
import { readOwn } from '../remote.ts';
import { fault, ok, remark, warning } from './finding.ts';
import type { Examined, Finding, Found } from './finding.ts';

/** Checks whether it runs, responds, and has this version; otherwise whether its ports are free. */
export async function checkProxy(examined: Examined): Promise<Found> {
  const { context, home } = examined;
  const instance = runningInstance(home);
  if (instance === undefined) {
    const cure = '`svc start --background` starts it.';
    return [
      fault('Proxy', 'unavailable', 'svc is not running', cure),
      await checkPorts(examined),
    ].flat();
  }
  const root = await readOwn(home, '/').catch(() => undefined);
  const health = root && (await readOwn(home, '/health').catch(() => undefined));
  if (root === undefined || instance.url === undefined)
    return fault(
      'Proxy',
      'unavailable',
      `running (pid ${instance.pid}) but does not answer`,
      '`svc restart --force`; `svc logs` may show the reason.',
    );
  const findings = [ok('Proxy', `running on ${instance.url} (pid ${instance.pid})`)];
  const version = root['version'];
  if (version === context.version) findings.push(ok('Version', context.version));
  else
    findings.push(
      warning(
        'Version',
        `the proxy is ${String(version)}, this is ${context.version}`,
        '`svc restart` starts the new one.',
      ),
    );
  const reasons = Array.isArray(health?.['reasons']) ? health['reasons'].join('; ') : '';
  if (health !== undefined && health['status'] !== 'ok')
    findings.push(
      warning(
        'Health',
        `${String(health['status'])}: ${reasons}`,
        '`svc status` and `svc logs` show more.',
      ),
    );
  return findings;
}

async function checkPorts({ loaded }: Examined): Promise<Found> {
  if (loaded === undefined) return [];
  const { host, port, wsPort } = loaded.config.server;
  const socketPort = wsPort ?? (port === 0 ? 0 : port + 1);
  const wanted = [
    [port, '--port or SVC_PORT'],
    [socketPort, 'SVC_WS_PORT'],
  ] as const;
  const findings: Finding[] = [];
  for (const [number, setting] of wanted) {
    const error = number === 0 ? undefined : await listenError(host, number);
    if (error === undefined) continue;
    if (error.code === 'EADDRINUSE') findings.push(takenPort(number, setting));
    else {
      const { message, cure = 'Choose another address with SVC_HOST.' } = toListenError(
        error,
        host,
        number,
      );
      findings.push(fault('Ports', 'config', message, cure));
    }
  }
  if (findings.length > 0) return findings;
  const ports = wanted.map(([number]) => number).filter((number) => number !== 0);
  return ok(
    'Ports',
    ports.length === 0
      ? 'free ones are chosen'
      : `${ports.join(' and ')} ${ports.length === 1 ? 'is' : 'are'} free`,
  );
}

function takenPort(port: number, setting: string): Finding {
  const owner = ownerOf(port);
  const who =
    owner === undefined ? 'another program' : `${owner.command ?? 'a process'} (pid ${owner.pid})`;
  const cure = `Stop it, or choose another with ${setting}.`;
  return fault('Ports', 'conflict', `port ${port} is taken by ${who}`, cure);
}

/** Returns why forward mode's certificate authority is unusable; undefined if it is usable. */
async function authorityFault(home: string, nowMs: number): Promise<string | undefined> {
  try {
    const authority = await readAuthority(home);
    if (authority === undefined) return 'its certificate authority is gone';
    return authority.expiresMs > nowMs ? undefined : 'its certificate authority has expired';
  } catch (thrown) {
    if (isSvcError(thrown)) return thrown.message;
    throw thrown;
  }
}

/** Reports which clients use the proxy, and which would if it ran or had not moved. */
export async function checkClients({ context, home, loaded }: Examined): Promise<Found> {
  const running = runningInstance(home)?.url;
  const url =
    running === undefined
      ? loaded && urlOf(loaded.config.server.host, loaded.config.server.port)
      : toReachableUrl(running);
  if (url === undefined) return [];
  const wirings = readWiring(home, context, url);
  const broken = wirings.some(({ isForward }) => isForward)
    ? await authorityFault(home, context.clock.wallMs())
    : undefined;
  const findings = wirings.flatMap(({ client, wired, file, isForward, fault: reason }): Found => {
    const { id, name } = client;
    if (reason !== null)
      return warning('Clients', reason, `Fix it: ${name} cannot read it either.`);
    if (wired === 'other' || wired === 'partly')
      return warning(
        'Clients',
        `${name} ${wired === 'other' ? 'uses a former address of svc' : 'uses svc only in part'} (${file})`,
        `\`svc integrate ${id}${isForward ? ' --forward' : ''} --apply\` fixes it.`,
      );
    if (wired === 'yes' && isForward && broken !== undefined)
      return fault(
        'Clients',
        'config',
        `${name} goes through forward mode and cannot connect: ${broken}`,
        `\`svc integrate ${id} --forward --apply\` makes a new one; \`--undo\` removes the setting.`,
      );
    if (wired === 'yes' && running === undefined)
      return fault(
        'Clients',
        'unavailable',
        `${name} goes through svc, which is not running: it cannot connect`,
        `\`svc start --background\`, or \`svc integrate ${id} --undo\`.`,
      );
    return wired === 'yes' ? ok('Clients', `${name} goes through svc`) : [];
  });
  const idle = wirings.filter(({ isInstalled, wired }) => isInstalled && wired === 'no');
  if (idle.length > 0) {
    const names = idle.map(({ client }) => client.name).join(', ');
    findings.push(
      remark(
        'Clients',
        `${names}: no settings file points to svc`,
        '`svc integrate` shows how; variables of a shell are not checked.',
      ),
    );
  }
  return findings.length > 0 ? findings : remark('Clients', 'no known client is installed');
}
