/**
 * Keeps the README's settings table equal to the one that the code declares.
 * `node dist/.ci/readme.js` writes it; with `--check` it only compares.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { settingsTable } from '../server/config/document.ts';

const file = fileURLToPath(new URL('../../README.md', import.meta.url));
const text = readFileSync(file, 'utf8');
const table = `<!-- settings:begin -->\n\n${settingsTable().trim()}\n\n<!-- settings:end -->`;
const wanted = text.replace(/<!-- settings:begin -->[\s\S]*<!-- settings:end -->/, () => table);
if (process.argv.includes('--check')) {
  const isSame = wanted === text;
  process.stdout.write(
    isSame
      ? 'readme: settings as declared\n'
      : 'readme: the settings table is stale; run `npm run readme`\n',
  );
  process.exitCode = isSame ? 0 : 1;
} else writeFileSync(file, wanted);
