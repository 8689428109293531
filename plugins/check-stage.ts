/** Checks one stage of a plugin: a misspelled field or frame would otherwise be ignored in silence. */
import { isObject } from '../stages/dialect/json-kind.ts';
import type { JsonObject } from '../stages/dialect/json-kind.ts';
import { proxyFrameKinds } from '../stages/model/frame.ts';
import type { PluginStage } from './plugin-stage.ts';

type Report = (path: readonly string[], message: string) => void;

const KINDS: readonly string[] = [...proxyFrameKinds.request, ...proxyFrameKinds.response];

/** Names are printed in graphs, traces and the log. */
const NODE_NAME = /^[^\p{C}\p{Z}][^\p{C}\p{Zl}\p{Zp}]{0,63}$/u;

const text = (value: unknown) => (typeof value === 'string' ? undefined : 'must be a text');
const nodeName = (value: unknown) =>
  typeof value === 'string' && NODE_NAME.test(value)
    ? undefined
    : 'use one to 64 visible characters on one line';
const callback = (value: unknown) =>
  typeof value === 'function' ? undefined : 'must be a function';
const boolean = (value: unknown) =>
  typeof value === 'boolean' ? undefined : 'must be true or false';
const positive = (value: unknown) =>
  typeof value === 'number' && value > 0 ? undefined : 'must be a number above 0';
const finite = (value: unknown) => (Number.isFinite(value) ? undefined : 'must be a number');
const oneOf =
  (...allowed: readonly string[]) =>
  (value: unknown) =>
    allowed.includes(value as string) ? undefined : `must be ${allowed.join(' or ')}`;

function byKind(value: unknown): string | undefined {
  if (!isObject(value)) return 'must be an object with a function for each kind of frame';
  for (const [kind, handler] of Object.entries(value)) {
    if (!KINDS.includes(kind)) return `${kind} is no kind of frame; known are ${KINDS.join(', ')}`;
    if (handler !== undefined && typeof handler !== 'function') return `${kind} must be a function`;
  }
  return undefined;
}

/** What is wrong with the value of a field, if anything. */
const FIELDS: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  name: nodeName,
  before: text,
  after: text,
  order: finite,
  needs: oneOf('events'),
  answers: boolean,
  settled: callback,
  timeoutMs: positive,
  open: callback,
  on: byKind,
  watch: byKind,
  onFault: oneOf('fail', 'pass'),
  transform: callback,
};

/** Fields of a stage of handlers, which one with its own stream cannot have. */
const OF_HANDLERS = ['open', 'on', 'watch', 'onFault'];

/** Returns true if the stage at the index `at` can be used; reports all that is wrong otherwise. */
export function isStage(stage: unknown, at: number, report: Report): stage is PluginStage {
  const path = ['stages', String(at)];
  if (!isObject(stage)) {
    report(path, `stages[${at}]: must be an object`);
    return false;
  }
  const faults = faultsOf(stage);
  for (const { field, message } of faults)
    report(field === undefined ? path : [...path, field], `stages[${at}]: ${message}`);
  return faults.length === 0;
}

interface Fault {
  readonly field?: string;
  readonly message: string;
}

function faultsOf(stage: JsonObject): readonly Fault[] {
  const has = (field: string) => stage[field] !== undefined;
  const faults: Fault[] = [];
  for (const field of Object.keys(stage).filter(has)) {
    const check = Object.hasOwn(FIELDS, field) ? FIELDS[field] : undefined;
    const known = Object.keys(FIELDS).join(', ');
    if (check === undefined)
      faults.push({ field, message: `${field} is not a field of a stage; known are ${known}` });
    const fault = check?.(stage[field]);
    if (fault !== undefined) faults.push({ field, message: `${field}: ${fault}` });
  }
  if (!['on', 'watch', 'transform', 'settled'].some(has))
    faults.push({ message: 'a stage has on, watch, settled or transform' });
  else if (has('before') === has('after'))
    faults.push({ message: 'a stage needs either before or after, not both' });
  const extra = OF_HANDLERS.find(has);
  if (has('transform') && extra !== undefined)
    faults.push({ field: extra, message: `${extra} and transform cannot be in one stage` });
  return faults;
}
