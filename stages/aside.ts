/** Getting a file that we cannot read as ours out of the way of one that we are about to write. */
import { rename } from 'node:fs/promises';

/** Renames `file` to `<file>.corrupt-<time>` and returns that path. Throws what the disk says. */
export async function moveUnreadable(file: string): Promise<string> {
  const aside = `${file}.corrupt-${new Date().toISOString().replaceAll(/[-:.]/g, '')}`;
  await rename(file, aside);
  return aside;
}
