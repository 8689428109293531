/** Where tests of the vault's commands take place. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makePlace, run, type Place } from '../testing.ts';

const FILES: Readonly<Record<string, string>> = {
  'gate.md': '# The gate\n\nThe flumbrick gate opens when the quorble lever is pulled.\n',
  'src/store.ts': 'export function keepSnarfle(days: number) {\n  return days > 90;\n}\n',
  'src/bell.ts': 'export const bell = "\u001b]0;stolen\u0007 zandrel";\n',
  'token.md': 'The flumbrick token = "Zx81KqPw02LmN7vR4tYb"\n',
  '.env': 'FLUMBRICK=1\n',
  'skip.log': 'ignored flumbrick\n',
  '.gitignore': '*.log\n',
  'a.bin': 'x\0y',
};

/** Writes `files` below the folder that is indexed. */
export function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, 'files', name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
  }
}

/** A folder of files to index, and the command line in its place. */
export async function withFiles(
  use: (place: Place, svc: (...argv: string[]) => ReturnType<typeof run>) => Promise<void>,
): Promise<void> {
  const place = makePlace();
  write(place.folder, FILES);
  try {
    await use(place, (...argv) => run(place, argv));
  } finally {
    place.dispose();
  }
}

export const logOf = (place: Place) => join(place.home, '.index', 'blocks.jsonl');
export const json = (text: string) => JSON.parse(text) as Record<string, unknown>;
