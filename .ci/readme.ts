/**
 * Keeps the generated parts of the documents equal to the code, and README short.
 * `node dist/.ci/readme.js` writes the tables; with `--check` it only compares.
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadDefinitions } from '../cli/parse/definitions.ts';
import { commandTables } from '../cli/parse/help.ts';
import { settingsTable } from '../server/config/document.ts';
import { actionsTable } from './macro-document.ts';
import { operationsDocument, recipesTable } from './recipe-document.ts';
import { causesTable, modelFactsTable } from './miss-document.ts';
import { FIGURES } from '../stages/ledger/columns.ts';
import { bundledRecipes } from '../server/bundled-recipes.ts';

/** README is an entry point; longer text belongs in `docs`. */
const README_MAX_BYTES = 10_240;

/** Returns the figures that are fully described by their entry in the table of columns. */
function figuresTable(): string {
  const rows = FIGURES.map(({ name, about }) => `| \`${name}\` | ${about} |`);
  return ['| Figure | What it is |', '|---|---|', ...rows].join('\n');
}

const pathOf = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url));

/** Returns files of `deploy` as a page shows them. */
function shownFiles(language: string, ...files: readonly string[]): string {
  const blocks = files.map((file) => {
    const text = readFileSync(pathOf(`deploy/${file}`), 'utf8');
    return `\`\`\`${language}\n${text}\`\`\``;
  });
  return blocks.join('\n\n');
}

const PARTS = [
  { file: 'docs/settings.md', part: 'settings', text: settingsTable() },
  {
    file: 'docs/commands.md',
    part: 'commands',
    text: commandTables(await loadDefinitions()),
  },
  { file: 'docs/recipes.md', part: 'recipes', text: recipesTable(bundledRecipes()) },
  { file: 'docs/recipes.md', part: 'operations', text: operationsDocument() },
  {
    file: 'docs/reverse-proxy.md',
    part: 'nginx',
    text: shownFiles('nginx', 'nginx/svc.conf', 'nginx/upstream-one.conf'),
  },
  {
    file: 'docs/reverse-proxy.md',
    part: 'haproxy',
    text: shownFiles('haproxy', 'haproxy/haproxy.cfg'),
  },
  { file: 'docs/figures.md', part: 'figures', text: figuresTable() },
  { file: 'docs/macros.md', part: 'actions', text: actionsTable() },
  { file: 'docs/cache-misses.md', part: 'causes', text: causesTable() },
  { file: 'docs/cache-misses.md', part: 'models', text: modelFactsTable() },
];

const isCheck = process.argv.includes('--check');
const faults: string[] = [];

for (const { file, part, text } of PARTS) {
  const before = readFileSync(pathOf(file), 'utf8');
  const [begin, end] = [`<!-- ${part}:begin -->`, `<!-- ${part}:end -->`];
  const from = before.indexOf(begin);
  const to = before.indexOf(end);
  if (from < 0 || to < from) {
    faults.push(`${file} has no part between ${begin} and ${end}`);
    continue;
  }
  const wanted = `${before.slice(0, from)}${begin}\n\n${text.trim()}\n\n${before.slice(to)}`;
  if (wanted === before) continue;
  if (isCheck) faults.push(`the ${part} in ${file} are stale; run \`npm run readme\``);
  else writeFileSync(pathOf(file), wanted);
}

const sizeBytes = statSync(pathOf('README.md')).size;
if (sizeBytes > README_MAX_BYTES)
  faults.push(`README.md has ${sizeBytes} bytes, over ${README_MAX_BYTES}; docs/*.md has the room`);

for (const fault of faults) process.stdout.write(`readme: ${fault}\n`);
if (faults.length === 0)
  process.stdout.write(`readme: tables as declared, ${sizeBytes} bytes of ${README_MAX_BYTES}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
