/**
 * Measures the classifier's accuracy per class, over samples whose class is known from their
 * source.
 */
import { join } from 'node:path';
import { TEXT_CLASSES, type TextClass } from '../../stages/model/classify/classes.ts';
import { classify } from '../../stages/model/classify/classify.ts';
import { readRecords, type TextRecord } from './corpus.ts';
import {
  codeSamples,
  grepSamples,
  historySamples,
  listingSamples,
  unrelatedSamples,
  type Sample,
} from './samples.ts';

/** How many samples of a class were recognized, and how the others were classified. */
export interface ClassAccuracy {
  readonly kind: TextClass;
  readonly samples: number;
  readonly right: number;
  readonly accuracy: number;
  readonly wrong: readonly { readonly name: string; readonly as: TextClass }[];
}

const CORPUS_FILES = [
  ['config', 'config'],
  ['json', 'json'],
  ['markdown', 'narrative'],
  ['stacktrace', 'trace'],
  ['test-output', 'log'],
] as const;

/**
 * Returns all labelled samples: those of the corpus, if there is one, and those made from installed
 * packages.
 */
export function labelledSamples(root: string, corpus: string | undefined): readonly Sample[] {
  const stored = CORPUS_FILES.flatMap(([file, expected]) =>
    corpus === undefined
      ? []
      : readRecords<TextRecord>(join(corpus, 'text', `${file}.jsonl`)).map((record) => ({
          name: record.id,
          text: record.text,
          expected,
          hints: {},
        })),
  );
  const made = [codeSamples, unrelatedSamples, historySamples, grepSamples, listingSamples].flatMap(
    (make) => make(root),
  );
  return [...stored, ...made, ...prose(corpus), ...ciLogs(corpus)];
}

function prose(corpus: string | undefined): readonly Sample[] {
  if (corpus === undefined) return [];
  const records = readRecords<{ id: string; context: string }>(
    join(corpus, 'qa/squad_short.jsonl'),
  );
  return records.slice(0, 60).map((record) => ({
    name: record.id,
    text: record.context,
    expected: 'narrative' as const,
    hints: {},
  }));
}

function ciLogs(corpus: string | undefined): readonly Sample[] {
  if (corpus === undefined) return [];
  return readRecords<TextRecord>(join(corpus, 'logs/ci_logs_logdx.jsonl')).map((record) => ({
    name: record.id,
    text: record.text,
    expected: 'log' as const,
    hints: {},
  }));
}

/** Classifies every sample and counts per expected class. */
export function measureClasses(samples: readonly Sample[]): readonly ClassAccuracy[] {
  return TEXT_CLASSES.flatMap((kind) => {
    const own = samples.filter((sample) => sample.expected === kind);
    if (own.length === 0) return [];
    const wrong = own.flatMap((sample) => {
      const as = classify(sample.text, sample.hints).kind;
      return as === kind ? [] : [{ name: sample.name, as }];
    });
    const right = own.length - wrong.length;
    return [{ kind, samples: own.length, right, accuracy: right / own.length, wrong }];
  });
}
