/** Where tests of the vault take place: a folder of files, an index, and vaults that get closed. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '../../engine/clock.ts';
import type { BackendName } from './block-index.ts';
import { indexFolder } from './indexer.ts';
import type { IndexReport } from './index-run.ts';
import { openVault, type OpenedVault, type VaultTrouble } from './vault.ts';

/** A folder of files, an index folder beside it, and vaults that are closed at the end. */
export class Place {
  readonly top = mkdtempSync(join(tmpdir(), 'svc-vault-'));
  readonly root = join(this.top, 'files');
  readonly indexDir = join(this.top, 'index');
  readonly troubles: VaultTrouble[] = [];
  readonly #vaults: OpenedVault[] = [];
  #ids = 0;

  constructor() {
    mkdirSync(this.root);
  }

  base() {
    return {
      indexDir: this.indexDir,
      clock: systemClock,
      newId: () => `${this.top}-${++this.#ids}`,
    };
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  index(): Promise<IndexReport> {
    return indexFolder({ ...this.base(), root: this.root, workers: 1, parseCode: false });
  }

  open(backend: BackendName = 'json_blocks'): OpenedVault {
    const vault = openVault({
      ...this.base(),
      backend,
      onTrouble: (trouble) => void this.troubles.push(trouble),
    });
    this.#vaults.push(vault);
    return vault;
  }

  async close(): Promise<void> {
    for (const vault of this.#vaults) await vault.close();
    rmSync(this.top, { recursive: true });
  }
}

/** Runs a test in a place of its own, and cleans up after it. */
export async function inPlace(use: (place: Place) => Promise<void>): Promise<void> {
  const place = new Place();
  try {
    await use(place);
  } finally {
    await place.close();
  }
}
