/**
 * Checks the providers: whether they respond, whether the clocks agree, and whether the keys are
 * valid.
 */
import { SvcError } from '../../engine/error.ts';
import { shownEndpoint, toAddress } from '../../stages/providers/address.ts';
import type { Config, ProviderConfig } from '../../server/config/config.ts';
import { counted } from '../screen/output.ts';
import { fault, ok, remark, warning } from './finding.ts';
import type { Examined, Finding, Found } from './finding.ts';

const ANSWER_MS = 4000;
/** Signed requests and expiry times fail at a skew of some minutes. */
const MAX_SKEW_MS = 120_000;

/** Sends each provider a plain request without a key: any response shows that it is reachable. */
export async function checkUpstreams({ context, loaded }: Examined): Promise<Found> {
  if (loaded === undefined) return [];
  const { config } = loaded;
  const targets = Object.values(config.providers).filter(({ baseUrl }) => baseUrl !== null);
  const [{ createOutbound }, { createUpstream }, { createCanceller, createTurn }] =
    await Promise.all([
      import('../../server/outbound/outbound.ts'),
      import('../../stages/providers/undici-upstream.ts'),
      import('../../engine/index.ts'),
    ]);
  const upstream = createUpstream(createOutbound(config.outbound), createTurn());
  const skewsMs: number[] = [];
  try {
    const findings = await Promise.all(
      targets.map(async (target) => {
        const { origin, pathPrefix } = toAddress(target.kind, target.baseUrl ?? '');
        const shown = shownEndpoint(target.kind, target.baseUrl ?? '');
        try {
          const { status, headers, body } = await upstream.send({
            origin,
            path: pathPrefix === '' ? '/' : pathPrefix,
            method: 'HEAD',
            headers: [],
            body: undefined,
            headTimeoutMs: ANSWER_MS,
            idleTimeoutMs: ANSWER_MS,
            signal: createCanceller().signal,
          });
          body.cancel(new Error('the head is enough'));
          const at = headers.findIndex((one, index) => index % 2 === 0 && /^date$/i.test(one));
          const serverMs = Date.parse(headers[at + 1] ?? '');
          if (at >= 0 && !Number.isNaN(serverMs)) skewsMs.push(context.clock.wallMs() - serverMs);
          if (status < 500) return ok('Upstream', `${target.name} answers (${shown})`);
          return warning(
            'Upstream',
            `${target.name} answers with ${status}`,
            'Its status page may give the reason.',
          );
        } catch (thrown) {
          if (!(thrown instanceof SvcError)) throw thrown;
          return unreachable(target, config, thrown);
        }
      }),
    );
    return [findings, skewFinding(skewsMs)].flat(2);
  } finally {
    await upstream.close();
  }
}

function unreachable(target: ProviderConfig, config: Config, error: SvcError): Finding {
  const { code } = (error.cause ?? {}) as { code?: unknown };
  const why = typeof code === 'string' ? code : error.message;
  const text = `${target.name} cannot be reached (${target.baseUrl}): ${why}`;
  const proxy = config.outbound.httpsProxy;
  const cure =
    proxy === null
      ? 'Check the network; behind a proxy, set HTTPS_PROXY.'
      : `Check the proxy ${new URL(proxy).host} and NO_PROXY.`;
  // A provider without a key here may not be in use.
  return target.keys.length > 0
    ? fault('Upstream', 'bad_gateway', text, cure)
    : warning('Upstream', text, cure);
}

function skewFinding(skewsMs: readonly number[]): Found {
  if (skewsMs.length === 0) return [];
  const skewMs = skewsMs.toSorted((a, b) => Math.abs(a) - Math.abs(b))[0] ?? 0;
  const seconds = counted(Math.round(Math.abs(skewMs) / 1000), 'second');
  if (Math.abs(skewMs) <= MAX_SKEW_MS) return ok('Clock', 'agrees with the providers');
  const side = skewMs > 0 ? 'ahead of' : 'behind';
  return warning(
    'Clock',
    `${seconds} ${side} the providers: days, limits and certificates depend on it`,
    'Turn on time synchronisation.',
  );
}

/**
 * A subscription token works only for its own client; other requests with it are refused or count
 * against it.
 */
const SUBSCRIPTION = /^sk-ant-oat/;

/**
 * Checks each configured key by listing the provider's models, which is free. With `isOffline`,
 * only lists the keys.
 */
export async function checkKeys({ context, loaded }: Examined, isOffline: boolean): Promise<Found> {
  if (loaded === undefined) return [];
  const { config } = loaded;
  const all = Object.values(config.providers).flatMap(({ name, keys }) =>
    keys.map(({ label, secret }) => ({ name, label, secret })),
  );
  if (all.length === 0)
    return remark('Keys', "none configured: each client's own key goes through");
  const isTried = ({ secret }: { readonly secret: string }): boolean =>
    !isOffline && !SUBSCRIPTION.test(secret);
  const left = all.filter((key) => !isTried(key)).map(({ name, label }) => `${name} from ${label}`);
  const { listModelsDirectly: askDirectly } =
    await import('../../server/control/provider-models.ts');
  const tried = all.filter(isTried).map(async ({ name, label }): Promise<Finding> => {
    try {
      const nowMs = context.clock.wallMs();
      const models = await askDirectly(config, name, context.env, nowMs, label);
      return ok('Keys', `${label} is valid (${name}, ${counted(models.length, 'model')})`);
    } catch (thrown) {
      if (!(thrown instanceof SvcError)) throw thrown;
      return thrown.kind === 'unauthorized'
        ? fault(
            'Keys',
            'unauthorized',
            `${name} refuses ${label}`,
            'Make a new key at the provider and set it there.',
          )
        : warning('Keys', `${label} could not be tried: ${thrown.message}`, 'Try again later.');
    }
  });
  const why = isOffline ? '--offline' : "a subscription's token is for its own client";
  const untried =
    left.length === 0 ? [] : [remark('Keys', `${left.join('; ')}; not tried: ${why}`)];
  return [...(await Promise.all(tried)), ...untried];
}
