/**
 * Walks all files below a folder that may belong to its vault, in steps that leave the event loop
 * free.
 */
import { lstatSync, readdirSync, type Dirent } from 'node:fs';
import { join } from 'node:path';
import { createBreather } from '../breather.ts';
import type { IgnoreRules } from './ignore-rules.ts';
import { isSecretName } from '../risk/secret-names.ts';

/** Larger files are excluded: they are not written by hand. */
const MAX_FILE_BYTES = 1_048_576;

/** Why files were excluded, and how many. An excluded folder counts as one. */
export type SkipReason =
  | 'ignored'
  | 'secret'
  | 'binary'
  | 'too_large'
  | 'empty'
  | 'link'
  | 'special'
  | 'unreadable';
export type SkipCounts = Partial<Record<SkipReason, number>>;

/** A file that may be read; the path is relative to the root, with `/`. */
export interface FoundFile {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  /** Last change of its name, location or permissions; unlike `mtimeMs` it cannot be set. */
  readonly ctimeMs: number;
}

export interface WalkOptions {
  readonly signal?: AbortSignal;
  /** Start folder, relative to the root; the root when empty. */
  readonly under?: string;
}

const BINARY_NAME =
  /\.(png|jpe?g|gif|webp|avif|bmp|ico|icns|tiff?|psd|heic|mp[34]|m4[av]|mov|avi|mkv|webm|wav|ogg|flac|aac|pdf|docx?|xlsx?|pptx?|od[tsp]|zip|gz|tgz|bz2|xz|zst|7z|rar|tar|jar|war|whl|egg|deb|rpm|dmg|iso|exe|dll|so|dylib|a|o|obj|lib|class|pyc|pyo|wasm|woff2?|ttf|otf|eot|db|sqlite3?|mdb|parquet|npy|npz|pkl|bin|dat|pt|onnx|safetensors|gguf)$/i;

/**
 * Walks `root`, in name order, and calls `onFile` for each file to read. Links are not followed:
 * they may lead out of the folder or form a cycle. Returns what was excluded. Stops early, without an
 * error, when the signal is aborted.
 */
export async function walk(
  root: string,
  rules: IgnoreRules,
  onFile: (file: FoundFile) => void,
  { signal, under = '' }: WalkOptions = {},
): Promise<SkipCounts> {
  const skipped: SkipCounts = {};
  const breathe = createBreather();
  const pending = [under];
  while (pending.length > 0) {
    if (signal?.aborted === true) break;
    const dir = pending.pop()!;
    const subdirs: string[] = [];
    for (const entry of listDir(join(root, dir), skipped)) {
      await breathe();
      const path = dir === '' ? entry.name : `${dir}/${entry.name}`;
      const excluded = rules.judge(path, entry.isDirectory());
      if (excluded !== undefined) addSkip(skipped, excluded);
      else if (entry.isDirectory()) subdirs.push(path);
      else {
        const found = inspect(root, path);
        if (typeof found === 'string') addSkip(skipped, found);
        else onFile(found);
      }
    }
    pending.push(...subdirs.toReversed());
  }
  return skipped;
}

/** Returns the file at `path`, or why it is excluded, judged by name and size alone. */
export function inspect(root: string, path: string): FoundFile | SkipReason {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (isSecretName(name)) return 'secret';
  if (BINARY_NAME.test(name)) return 'binary';
  try {
    const stat = lstatSync(join(root, path));
    if (stat.isSymbolicLink()) return 'link';
    if (!stat.isFile()) return 'special';
    if (stat.size > MAX_FILE_BYTES) return 'too_large';
    const { size, mtimeMs, ctimeMs } = stat;
    return size === 0 ? 'empty' : { path, size, mtimeMs, ctimeMs };
  } catch {
    return 'unreadable';
  }
}

/** Adds to the count of files excluded for `reason`. */
export function addSkip(skipped: SkipCounts, reason: SkipReason, count = 1): void {
  skipped[reason] = (skipped[reason] ?? 0) + count;
}

function listDir(dir: string, skipped: SkipCounts): Dirent[] {
  try {
    const entries = readdirSync(dir, { withFileTypes: true });
    return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    addSkip(skipped, 'unreadable');
    return [];
  }
}
