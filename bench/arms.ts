/** The ways that a request can take, each in its own process, and the load generator. */
import { startChild, startUpstreamProcess } from './channel.ts';
import type { Child, Usage } from './channel.ts';
import type { LoadCommands } from './load.ts';
import type { SvcCommands } from './svc-proxy.ts';

/** Names of the ways. */
export type ArmName = 'direct' | 'plain' | 'undici' | 'nginx' | 'portkey' | 'svc';

/** One way. */
export interface Arm {
  readonly name: ArmName;
  readonly port: number;
  /** What its proxy wants to be told with each request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Resource usage of its proxy; absent if there is none. */
  readonly usage?: () => Promise<Usage>;
}

/** A way whose proxy the rig stops. */
export interface OpenedArm extends Arm {
  close(): Promise<void>;
}

/** Everything that runs during a comparison. */
export interface Rig {
  readonly load: Child<LoadCommands>;
  readonly svc: Child<SvcCommands>;
  readonly arms: readonly Arm[];
  close(): Promise<void>;
}

type PlainCommands = { usage: () => Usage };

/**
 * Starts upstream, load and the proxies that `names` asks for (svc always). `isEverything`: svc
 * captures and audits, too. `others` starts further proxies in front of the upstream's port.
 */
export async function startRig(
  names: readonly ArmName[] = ['direct', 'plain', 'svc'],
  isEverything = false,
  others: (upstreamPort: number) => Promise<readonly OpenedArm[]> = () => Promise.resolve([]),
): Promise<Rig> {
  const opened: { close(): Promise<void> }[] = [];
  const keep = <T extends { close(): Promise<void> }>(child: T): T => {
    opened.unshift(child);
    return child;
  };
  const close = async (): Promise<void> => {
    for (const child of opened) await child.close();
  };
  try {
    const upstream = keep(await startUpstreamProcess());
    const args = [String(upstream.port)];
    const svc = keep(
      await startChild<SvcCommands>('app/svc-proxy.js', {
        args: isEverything ? [...args, 'everything'] : args,
      }),
    );
    const arms: Arm[] = [{ name: 'direct', port: upstream.port }];
    if (names.includes('plain')) {
      const plain = keep(await startChild<PlainCommands>('bench/plain-proxy.js', { args }));
      arms.push({ name: 'plain', port: plain.port, usage: () => plain.call('usage') });
    }
    for (const arm of await others(upstream.port)) arms.push(keep(arm));
    arms.push({ name: 'svc', port: svc.port, usage: () => svc.call('usage') });
    const load = keep(await startChild<LoadCommands>('bench/load.js'));
    return { load, svc, arms, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}
