/**
 * Locates and reads measuring data. The corpus is optional: without it the project's own fixtures
 * are measured.
 */
import { existsSync, readFileSync } from 'node:fs';
import { corpusFolder } from '../../fixtures/corpus.ts';

/**
 * Returns the folder of the labelled corpus, which may have texts and no recordings; undefined if
 * there is none.
 */
export function findCorpus(env: NodeJS.ProcessEnv): string | undefined {
  const folder = corpusFolder(env);
  return existsSync(folder) ? folder : undefined;
}

/** Returns the records of a JSON Lines file; none if the file is absent. */
export function readRecords<T>(file: string): readonly T[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/** One record of the corpus's `text` folder. */
export interface TextRecord {
  readonly id: string;
  readonly text: string;
  readonly fmt?: string;
  readonly source?: { readonly path?: string };
}
