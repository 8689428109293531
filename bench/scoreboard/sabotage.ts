/** Copies the build with a defect in one file, to see a test turn red. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { projectRoot } from '../../fixtures/paths.ts';
import type { Sabotage } from './row.ts';

const BUILD = fileURLToPath(new URL('../..', import.meta.url));
/** Parts of a build that no scoreboard test uses. */
const NOT_COPIED = /^(?:app|\.ci)(?:\/|$)|\.(?:d\.ts|map)$/;

/** Returns the path of a source file in a build. */
export const compiledFile = (source: string): string => source.replace(/\.ts$/, '.js');

/**
 * Copies the build into a folder next to `dist`, so that fixtures are found from it too; `number`
 * tells the copies of this process apart. `plant` inserts a defect and returns a function that
 * removes it.
 */
export function copyBuild(number: number) {
  const folder = join(projectRoot, `.build-sabotage-${process.pid}-${number}`);
  mkdirSync(folder);
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // However this process ends, the copy is not needed afterwards.
  process.once('exit', remove);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
  cpSync(BUILD, folder, {
    recursive: true,
    filter: (path) => !NOT_COPIED.test(relative(BUILD, path)),
  });
  return {
    folder,
    /** Inserts a defect. Throws a RangeError unless the source contains `before` exactly once. */
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
      const originalBytes = readFileSync(path);
      // As tsc does: compiled modules import compiled modules.
      writeFileSync(path, code.replaceAll(/(["']\.{1,2}\/[^"']+)\.ts(["'])/g, '$1.js$2'));
      return () => writeFileSync(path, originalBytes);
    },
  };
}
