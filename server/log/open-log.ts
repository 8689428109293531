/** Opens the log of a proxy as configured, with all secrets to redact. */
import { join } from 'node:path';
import type { Clock } from '../../engine/index.ts';
import { passwordsOf } from '../../stages/ledger/address.ts';
import { targetSecrets } from '../alerts/notify/targets.ts';
import type { Config } from '../config/config.ts';
import { redisSecrets } from '../config/redis-address.ts';
import { createLog } from './log.ts';
import type { Log, LogDestination, LogSettings } from './log.ts';
import type { CustomProviders } from '../generation/plugins.ts';

/** Returns the log path of a home folder. */
export function logFile(home: string): string {
  return join(home, 'logs', 'svc.log');
}

/** Opens the log; known secrets are redacted wherever they occur. */
export function openLog(config: Config, custom: CustomProviders, clock: Clock): Log {
  const { logging } = config;
  const destination: LogDestination =
    logging.destination === 'stdout'
      ? { kind: 'stream', stream: process.stdout }
      : { kind: 'file', path: logFile(config.home) };
  return createLog({
    ...logSettings(config),
    destination,
    format: logging.format,
    retentionDays: logging.retentionDays,
    clock,
    secrets: secretsOf(config, custom),
  });
}

/** Applies a reload, new secrets first. */
export function updateLog(log: Log, config: Config, custom: CustomProviders): void {
  for (const secret of secretsOf(config, custom)) log.addSecret(secret);
  log.configure(logSettings(config));
}

/** Returns the log settings that may change while the log is open. */
export function logSettings({ logging }: Config): LogSettings {
  return {
    isEnabled: logging.enabled,
    level: logging.level,
    includeRequestBody: logging.includeRequestBody,
    includeResponseBody: logging.includeResponseBody,
    includeTraces: logging.traces,
  };
}

/**
 * Returns all secrets: keys and header values of all providers, the proxy's own key, alert
 * addresses, the passwords of the ledger and of Redis.
 */
export function secretsOf(config: Config, custom: CustomProviders): readonly string[] {
  const secrets = Object.values(config.providers).flatMap((provider) => [
    ...provider.keys.map((key) => key.secret),
    ...Object.values(provider.headers),
  ]);
  for (const { definition, secret } of custom.byName.values()) {
    secrets.push(...Object.values(definition.headers ?? {}));
    if (secret !== undefined) secrets.push(secret);
  }
  if (config.security.apiKey !== null) secrets.push(config.security.apiKey);
  for (const { notify } of config.alerts) secrets.push(...notify.flatMap(targetSecrets));
  secrets.push(...passwordsOf(config.ledger.db), ...redisSecrets(config.shared.redisUrl));
  return secrets;
}
