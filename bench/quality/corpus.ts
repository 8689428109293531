/** Where measuring data lies, and readers for it. The corpus is optional: without it the project's own fixtures are measured. */
import { existsSync, readFileSync } from 'node:fs';
import { corpusFolder } from '../../fixtures/corpus.ts';

/** Folder of the labelled corpus, which may have texts and no recordings; undefined where there is none. */
export function findCorpus(env: NodeJS.ProcessEnv): string | undefined {
  const folder = corpusFolder(env);
  return existsSync(folder) ? folder : undefined;
}

/** The records of a JSON Lines file; an absent file has none. */
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
