/** `serve --debug` applies a saved configuration or plugin at once, like `svc config reload`. */
import { basename } from 'node:path';
import type { LoadedConfig } from '../../server/config/load.ts';

/** Editors write a file in several steps. */
const SETTLE_MS = 100;

export interface SaveWatch {
  /** Watches the files of `loaded` from now on. */
  follow(loaded: LoadedConfig): void;
  close(): Promise<void>;
}

/** Returns the files whose change triggers a reload. */
function watchedFiles({ config, configFile }: LoadedConfig): readonly string[] {
  const modules = [...config.plugins, ...config.customProviders].map(({ module }) => module);
  return [...(configFile === undefined ? [] : [configFile]), ...modules];
}

/** Calls `onSave` with the names of saved files. Resolves once it watches. */
export async function watchSaves(
  first: LoadedConfig,
  onSave: (files: readonly string[]) => void,
): Promise<SaveWatch> {
  const { watch } = await import('chokidar');
  let followed = new Set(watchedFiles(first));
  const watcher = watch([...followed], { ignoreInitial: true });
  // Without files the watcher never becomes ready.
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
