/** A copy of the build in which one file has a defect, to see that a test turns red. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { projectRoot } from '../../fixtures/paths.ts';
import type { Sabotage } from './row.ts';

const BUILD = fileURLToPath(new URL('../..', import.meta.url));
/** Parts of a build that no test of the scoreboard runs. */
const LEFT_OUT = /^(?:app|\.ci)(?:\/|$)|\.(?:d\.ts|map)$/;

/** Where a file of the sources lies in a build. */
export const compiledFile = (source: string): string => source.replace(/\.ts$/, '.js');

/**
 * Copies the build into a folder of its own; `plant` puts a defect into it and returns what takes
 * it out again. Beside `dist`, so that fixtures are found from it too.
 */
export function copyBuild() {
  const folder = join(projectRoot, `.build-sabotage-${process.pid}`);
  mkdirSync(folder);
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // Whatever ends this process: nobody runs the copy afterwards.
  process.once('exit', remove);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
  cpSync(BUILD, folder, {
    recursive: true,
    filter: (path) => !LEFT_OUT.test(relative(BUILD, path)),
  });
  return {
    folder,
    /** Throws a RangeError where the sources no longer hold what the defect takes the place of, once. */
    async plant({ file, before, after }: Sabotage): Promise<() => void> {
      const source = join(projectRoot, file);
      const text = existsSync(source) ? readFileSync(source, 'utf8') : '';
      const parts = text.split(before);
      if (before === '' || parts.length !== 2)
        throw new RangeError(`${file} does not hold this once: ${before.trim()}`);
      const { code } = await transform(parts.join(after), {
        loader: 'ts',
        format: 'esm',
        target: 'node20',
        sourcefile: file,
      });
      const path = join(folder, compiledFile(file));
      const sound = readFileSync(path);
      // As tsc has it: what is compiled imports what is compiled.
      writeFileSync(path, code.replaceAll(/(["']\.{1,2}\/[^"']+)\.ts(["'])/g, '$1.js$2'));
      return () => writeFileSync(path, sound);
    },
  };
}
