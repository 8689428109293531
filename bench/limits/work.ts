/** Limits for work within one process: the longest accepted inputs, and every grammar. */
import { processorMs } from '../../fixtures/growth.ts';
import { LINEAR_WORK } from '../../fixtures/linear-work.ts';
import { CREDENTIAL_TEXTS, credentialText } from '../../fixtures/vault/credential-texts.ts';
import { GRAMMAR_SAMPLES } from '../../fixtures/grammar-samples.ts';
import { pause } from '../../fixtures/wait.ts';
import { createGrammarLoader } from '../../stages/grammars.ts';
import { contentRisk } from '../../stages/vault/risk/risk.ts';
import { minOf } from './limit.ts';
import type { LimitGroup, Measured } from './limit.ts';

const ATTEMPTS = 3;
const CREDENTIAL_CHARS = 65_536;
const CREDENTIALS_MS = 1600;
const GRAMMAR_MS = 6000;
const GRAMMAR_IDLE_MS = 1000;

async function longInputs(): Promise<readonly Measured[]> {
  const found: Measured[] = [];
  for (const { name, maxMs, open } of LINEAR_WORK) {
    const { inputOf, work } = await open();
    const input = inputOf(4);
    const value = await minOf(ATTEMPTS, () => processorMs(() => work(input)));
    found.push({ what: name, unit: 'ms', max: maxMs, value });
  }
  return found;
}

async function credentials(): Promise<readonly Measured[]> {
  let value = 0;
  for (const path of ['notes.md', 'app.conf']) {
    for (const [start, piece] of CREDENTIAL_TEXTS) {
      const text = credentialText(start, piece, CREDENTIAL_CHARS);
      const once = () => processorMs(() => contentRisk(text, path));
      value = Math.max(value, await minOf(ATTEMPTS, once));
    }
  }
  const what = 'the slowest of 116 texts of 64 KiB is searched for credentials';
  return [{ what, unit: 'ms', max: CREDENTIALS_MS, value }];
}

/** Engines recompile hot code in the background: no grammar may cost more than its parsing. */
async function grammars(): Promise<readonly Measured[]> {
  const loader = createGrammarLoader();
  let slowest = { name: '', ms: 0 };
  for (const [name, sample] of Object.entries(GRAMMAR_SAMPLES)) {
    const text = Array.from({ length: 150 }, (_, n) => sample(n)).join('\n');
    const ms = await processorMs(async () => {
      const { parser } = await loader.load(name);
      for (let round = 0; round < 12; round += 1) parser.parse(text)?.delete();
      await pause(500);
    });
    if (ms > slowest.ms) slowest = { name, ms };
  }
  const idleMs = await processorMs(() => pause(2000));
  return [
    {
      what: `a source of 150 definitions is parsed twelve times (slowest: ${slowest.name})`,
      unit: 'ms',
      max: GRAMMAR_MS,
      value: slowest.ms,
    },
    {
      what: 'two seconds after that in which nothing is parsed',
      unit: 'ms',
      max: GRAMMAR_IDLE_MS,
      value: idleMs,
    },
  ];
}

/** Processor time of work on long inputs. */
export const WORK_LIMITS: readonly LimitGroup[] = [
  { name: 'processor time of long inputs', measure: longInputs },
  { name: 'processor time of the search for credentials', measure: credentials },
  { name: 'processor time of grammars', measure: grammars },
];
