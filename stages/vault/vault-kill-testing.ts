/**
 * Child process of the kill test: repeats the operation named by its first argument on the vault
 * named by the third.
 */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../engine/clock.ts';
import { indexFolder } from './indexing/indexer.ts';
import { openVault } from './vault.ts';

const [what, root, indexDir] = process.argv.slice(2);
if (root === undefined || indexDir === undefined) throw new Error('Two folders are needed');
const base = { indexDir, clock: systemClock, newId: randomUUID };
const indexing = { ...base, root, parseCode: false, workers: 1 };

const works: Readonly<Record<string, () => Promise<unknown>>> = {
  index: () => indexFolder(indexing),
  async compact() {
    for (let file = 0; file < 10; file++) {
      writeFileSync(join(root, `c${file}.md`), `turn ${randomUUID()} `.repeat(400));
    }
    await indexFolder({ ...indexing, compactBytes: 1 });
  },
  async sqlite() {
    await vault!.search('word7 turn');
    await new Promise((resolve) => setTimeout(resolve, 2));
  },
};
const vault = what === 'sqlite' ? openVault({ ...base, backend: 'sqlite' }) : undefined;
process.send?.('ready');
for (;;) await works[what!]!();
