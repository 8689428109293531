/**
 * `fleet.yaml` in the home folder: the name of this machine, and the other proxies of its fleet.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import { isObject } from '../../stages/dialect/json-kind.ts';
import { reasonOf } from '../../stages/disk-reason.ts';
import { underLock } from '../../stages/lock.ts';
import { NODE_NAME, NODE_NAME_TEXT } from '../../stages/ledger/settings.ts';
import { allows, secret } from '../../stages/settings/kind.ts';
import { quote } from '../../stages/settings/setting.ts';
import { addressFault } from '../config/address.ts';
import { ensureHome, writePrivateFile } from '../config/home.ts';

/** Another proxy. */
export interface Member {
  readonly name: string;
  /** Origin with an optional path prefix, without a trailing slash. */
  readonly url: string;
  /** The proxy key itself, or the name of the variable that holds it. */
  readonly key?: string;
  readonly keyEnv?: string;
  /** Plain `http:` to another machine is allowed. */
  readonly allowInsecure: boolean;
}

export interface Fleet {
  /** Name of this machine; null if none was given. */
  readonly node: string | null;
  /** In the order in which they were added. */
  readonly members: readonly Member[];
}

/** The fleet of a home folder without a file. */
export const EMPTY: Fleet = { node: null, members: [] };

/** A valid shell variable name. */
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const FIELDS = ['name', 'url', 'key', 'key_env', 'allow_insecure'];

const HEAD = '# Written by `svc fleet`. It may hold keys: nobody else should be able to read it.\n';

/** Returns the path of the fleet file of a home folder. */
export function fleetFile(home: string): string {
  return join(home, 'fleet.yaml');
}

/**
 * Reads the fleet of a home folder; undefined if there is no file. Throws `config` (CONFIG_001) for
 * an invalid one.
 */
export async function readFleet(home: string): Promise<Fleet | undefined> {
  const path = fleetFile(home);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw faultyFleet(`it cannot be read: ${reasonOf(cause)}`, path, cause);
  }
  const { readYaml } = await import('../config/yaml.ts');
  const { data, faults } = await readYaml(text, 'fleet.yaml');
  const [first] = faults;
  if (first !== undefined) throw faultyFleet(first.text, path);
  if (data === null) return { node: null, members: [] };
  if (!isObject(data)) throw faultyFleet('not a YAML map', path);
  const { node = null, members, ...others } = data;
  refuseOthers(others, 'it', path);
  if (node !== null && !isName(node)) throw faultyFleet(`node is not ${NODE_NAME_TEXT}`, path);
  const list = members ?? [];
  if (!Array.isArray(list)) throw faultyFleet('members must be a list', path);
  const read = list.map((member: unknown, index) => toMember(member, `members.${index}`, path));
  const names = read.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw faultyFleet(`two members have the name ${quote(twice)}`, path);
  return { node, members: read };
}

/** Longest wait for a concurrent writer. */
const LOCK_MS = 10_000;

/**
 * Replaces the fleet of a home folder with the result of `change`, under a lock. If `change`
 * throws, the file stays as it was.
 */
export function changeFleet(home: string, change: (fleet: Fleet) => Fleet): Promise<void> {
  ensureHome(home);
  const rewrite = async () => writeFleet(home, change((await readFleet(home)) ?? EMPTY));
  return underLock(`${fleetFile(home)}.lock`, rewrite, { timeoutMs: LOCK_MS });
}

/** Writes the file so that only its user can read it. */
async function writeFleet(home: string, { node, members }: Fleet): Promise<void> {
  const { stringify } = await import('yaml');
  const written = members.map(({ name, url, key, keyEnv, allowInsecure }) => ({
    name,
    url,
    ...(key !== undefined && { key }),
    ...(keyEnv !== undefined && { key_env: keyEnv }),
    ...(allowInsecure && { allow_insecure: true }),
  }));
  writePrivateFile(fleetFile(home), HEAD + stringify({ node, members: written }));
}

/**
 * Checks a member as typed. Throws `bad_request` with the faults; neither address nor key is
 * quoted.
 */
export function checkMember(member: Member): Member {
  const reason = memberFault(member);
  if (reason !== undefined) throw new SvcError('bad_request', reason);
  return { ...member, url: withoutEndSlashes(member.url) };
}

function withoutEndSlashes(url: string): string {
  return url.replace(/(?<!\/)\/+$/, '');
}

function memberFault({ name, url, key, keyEnv, allowInsecure }: Member): string | undefined {
  if (!NODE_NAME.test(name)) return `${quote(name)} is not a valid machine name: ${NODE_NAME_TEXT}`;
  const wrong = addressFault(url, {
    allowsInsecure: allowInsecure,
    keyPlace: 'a proxy key of that machine',
    insecureSwitch: 'an SSH tunnel, or --allow-insecure in a network that you trust',
  });
  if (wrong !== undefined) return `The address of ${name}: ${wrong}`;
  if (key !== undefined && !allows(secret.definition, key))
    return `The key of ${name} is not ${secret.text}`;
  if (keyEnv !== undefined && !VARIABLE.test(keyEnv))
    return `${quote(keyEnv)} is not a name of a variable`;
  return undefined;
}

function toMember(value: unknown, where: string, path: string): Member {
  if (!isObject(value)) throw faultyFleet(`${where} must be a map`, path);
  const { name, url, key, key_env: keyEnv, allow_insecure: allowInsecure = false } = value;
  refuseOthers(
    Object.fromEntries(Object.entries(value).filter(([field]) => !FIELDS.includes(field))),
    where,
    path,
  );
  if (typeof name !== 'string' || typeof url !== 'string')
    throw faultyFleet(`${where} needs a name and a url`, path);
  if (key !== undefined && typeof key !== 'string')
    throw faultyFleet(`${where}.key must be a string`, path);
  if (keyEnv !== undefined && typeof keyEnv !== 'string')
    throw faultyFleet(`${where}.key_env must be a string`, path);
  if (typeof allowInsecure !== 'boolean')
    throw faultyFleet(`${where}.allow_insecure is not true or false`, path);
  const member = {
    name,
    url,
    allowInsecure,
    ...(key !== undefined && { key }),
    ...(keyEnv !== undefined && { keyEnv }),
  };
  const reason = memberFault(member);
  if (reason !== undefined) throw faultyFleet(reason, path);
  return { ...member, url: withoutEndSlashes(url) };
}

function refuseOthers(others: object, where: string, path: string): void {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw faultyFleet(`${where} has an unknown ${quote(unknown)}`, path);
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && NODE_NAME.test(value);
}

function faultyFleet(reason: string, path: string, cause?: unknown): SvcError {
  return new SvcError('config', `fleet.yaml: ${reason}`, {
    code: 'CONFIG_001',
    cause,
    cure: `Mend ${path}, or remove it and begin with \`svc fleet init\`.`,
  });
}
