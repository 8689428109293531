/** The stored form of what was learned: one JSON document, read and replaced as a whole. */
import { chmod, readFile } from 'node:fs/promises';
import { isObject, listOf } from '../dialect/json-kind.ts';
import { replaceFile } from '../private-file.ts';
import type { Mean } from './means.ts';
import { toRules } from './rules.ts';
import type { Rules } from './rules.ts';

/** Content of the document. */
export interface LearnedState {
  readonly patterns: readonly (readonly [key: string, mean: Mean])[];
  readonly models: readonly (readonly [model: string, mean: Mean])[];
  /** Every rule set that a conversation may be pinned to, oldest first. */
  readonly rules: readonly Rules[];
  /** Id of the rule set for new conversations; null for none. */
  readonly applied: string | null;
  /** When they were applied, in milliseconds since the epoch. */
  readonly appliedMs: number | null;
}

const FORMAT = 1;

export const nothingLearned: LearnedState = Object.freeze({
  patterns: [],
  models: [],
  rules: [],
  applied: null,
  appliedMs: null,
});

/** How far a clock that was set back since may have been ahead. */
const AHEAD_MS = 24 * 3600 * 1000;

/**
 * Reads the document at `file`; returns an empty state where there is none. Throws file system
 * errors, and an `Error` for a document not written by svc.
 */
export async function readLearned(file: string, nowMs: number): Promise<LearnedState> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT')
      return nothingLearned;
    throw thrown;
  }
  await chmod(file, 0o600);
  const document: unknown = JSON.parse(text);
  if (!isObject(document) || document['format'] !== FORMAT)
    throw new Error(`${file} is not of format ${FORMAT}`);
  const { applied, applied_ms: appliedMs } = document;
  return {
    patterns: toMeans(document['patterns']),
    models: toMeans(document['models']),
    rules: listOf(document['rules']).map((skip) => toRules(listOf(skip).filter(isText))),
    applied: isText(applied) ? applied : null,
    appliedMs: isPast(appliedMs, nowMs) ? appliedMs : null,
  };
}

/** Replaces the document atomically: concurrent readers see the old or the new one. */
export async function writeLearned(file: string, state: LearnedState): Promise<void> {
  const document = {
    format: FORMAT,
    applied: state.applied,
    applied_ms: state.appliedMs,
    rules: state.rules.map(({ skip }) => skip),
    patterns: state.patterns,
    models: state.models,
  };
  await replaceFile(file, (draft) => draft.writeFile(`${JSON.stringify(document)}\n`));
}

function toMeans(value: unknown): (readonly [string, Mean])[] {
  return listOf(value).flatMap((entry) => {
    const [name, mean] = listOf(entry);
    if (!isText(name) || !isObject(mean)) return [];
    const { samples, over, under } = mean;
    const isWhole = [samples, over, under].every((each) => Number.isFinite(each));
    return isWhole ? [[name, { samples, over, under } as Mean] as const] : [];
  });
}

function isPast(value: unknown, nowMs: number): value is number {
  return typeof value === 'number' && value > 0 && value <= nowMs + AHEAD_MS;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
