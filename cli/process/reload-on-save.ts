/** `serve --debug` takes up a saved configuration or plugin at once, as `svc config reload` would. */
import { basename } from 'node:path';
import type { LoadedConfig } from '../../server/config/load.ts';

/** Editors write a file in several steps. */
const SETTLE_MS = 100;

export interface SaveWatch {
  /** Watches what `loaded` names from now on. */
  follow(loaded: LoadedConfig): void;
  close(): Promise<void>;
}

/** The files whose change is worth a reload. */
function watchedFiles({ config, configFile }: LoadedConfig): readonly string[] {
  const modules = [...config.plugins, ...config.customProviders].map(({ module }) => module);
  return [...(configFile === undefined ? [] : [configFile]), ...modules];
}

/** Calls `onSave` with the names of the files that were saved. Resolves once it watches. */
export async function watchSaves(
  first: LoadedConfig,
  onSave: (files: readonly string[]) => void,
): Promise<SaveWatch> {
  const { watch } = await import('chokidar');
  let followed = new Set(watchedFiles(first));
  const watcher = watch([...followed], { ignoreInitial: true });
  // With nothing to watch it is never ready.
  if (followed.size > 0)
    await new Promise((resolve) => watcher.once('ready', () => resolve(undefined)));
  const saved = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const onChange = (file: string) => {
    saved.add(basename(file));
    clearTimeout(timer);
    timer = setTimeout(() => {
      const files = [...saved];
      saved.clear();
      onSave(files);
    }, SETTLE_MS);
  };
  watcher.on('change', onChange).on('add', onChange);
  return {
    follow(loaded) {
      const next = new Set(watchedFiles(loaded));
      watcher.unwatch([...followed].filter((file) => !next.has(file)));
      watcher.add([...next].filter((file) => !followed.has(file)));
      followed = next;
    },
    async close() {
      clearTimeout(timer);
      await watcher.close();
    },
  };
}
