/**
 * Keeps files readable: none longer than 300 lines, none with a name that says
 * nothing. Prints every breach and exits with 1 if there is one.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['engine', 'stages', 'plugins', 'server', 'cli', 'fixtures', 'bench', '.ci'];
const MAX_LINES = 300;
const EMPTY_NAMES = /(?:^|\/)(?:utils?|helpers?|common|misc|manager)(?:\.ts|\/)/;

const breaches: string[] = [];
for (const folder of FOLDERS) {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.ts')) continue;
    const path = join(entry.parentPath, entry.name);
    const file = relative(root, path);
    const lines = readFileSync(path, 'utf8').split('\n').length - 1;
    if (lines > MAX_LINES) breaches.push(`${file}: ${lines} lines, at most ${MAX_LINES}`);
    if (EMPTY_NAMES.test(file)) breaches.push(`${file}: a name that says nothing`);
  }
}
for (const breach of breaches) process.stdout.write(`${breach}\n`);
process.stdout.write(`size: ${breaches.length} breaches\n`);
process.exitCode = breaches.length === 0 ? 0 : 1;
