/**
 * The corpus check of translation, run by hand or by CI where the corpus lies:
 * every recorded answer and request, to every other dialect. Prints a table and
 * leaves with 1 if anything came out wrong. `SVC_CORPUS` names the corpus folder;
 * default `../shared/corpus` beside the project.
 */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { NO_CORPUS, openCorpus } from '../../fixtures/corpus.ts';
import type { TranslatableDialect } from './canonical.ts';
import { checkAnswer, dialectOf, type RecordedAnswer } from './translate-answers.corpus.ts';
import {
  checkRequest,
  requestDialectOf,
  type RecordedRequest,
  type RequestVerdict,
} from './translate-requests.corpus.ts';

const ALL: readonly TranslatableDialect[] = ['messages', 'chat', 'generative', 'responses'];

interface Row {
  readonly counts: Map<string, number>;
  readonly wrong: string[];
}

const rows = new Map<string, Row>();
const skips = new Map<string, number>();

function record(name: string, outcome: string, wrong?: string): void {
  const row = rows.get(name) ?? { counts: new Map<string, number>(), wrong: [] };
  row.counts.set(outcome, (row.counts.get(outcome) ?? 0) + 1);
  if (wrong !== undefined) row.wrong.push(wrong);
  rows.set(name, row);
}

async function* lines(file: string): AsyncGenerator {
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (line !== '') yield JSON.parse(line) as unknown;
  }
}

async function checkAnswers(file: string): Promise<void> {
  for await (const line of lines(file)) {
    const answer = line as RecordedAnswer;
    const from = dialectOf(answer.kind);
    if (from === undefined) continue;
    for (const to of ALL.filter((each) => each !== from)) {
      const modes = answer.kind.endsWith('-sse') ? [true] : [false, true];
      for (const streamed of modes) {
        const verdict = await checkAnswer(answer, from, to, streamed);
        const name = `${answer.kind} → ${to}${streamed ? ' stream' : ''}`;
        const why = verdict.outcome === 'wrong' ? `${answer.id}: ${verdict.why}` : undefined;
        record(name, verdict.outcome, why);
      }
    }
  }
}

/** What is thrown while reading back is a fault of the translation, like any other. */
function attempt(check: () => RequestVerdict): RequestVerdict {
  try {
    return check();
  } catch (thrown) {
    return { outcome: 'wrong', why: String(thrown) };
  }
}

async function checkRequests(file: string): Promise<void> {
  for await (const line of lines(file)) {
    const request = line as RecordedRequest;
    const from = requestDialectOf(request.kind);
    if (from === undefined) continue;
    for (const to of ALL.filter((each) => each !== from)) {
      const verdict = attempt(() => checkRequest(request, from, to));
      const why = verdict.outcome === 'wrong' ? `${request.id}: ${verdict.why}` : undefined;
      record(`${request.kind} → ${to}`, verdict.outcome, why);
      if (verdict.outcome === 'skip') {
        const reason = `${from} → ${verdict.why}`;
        skips.set(reason, (skips.get(reason) ?? 0) + 1);
      }
    }
  }
}

function print(): number {
  let wrong = 0;
  for (const [name, { counts, wrong: faults }] of [...rows].toSorted(([a], [b]) =>
    a.localeCompare(b),
  )) {
    const said = [...counts].map(([outcome, count]) => `${outcome} ${count}`).join(', ');
    process.stdout.write(`${name.padEnd(44)} ${said}\n`);
    for (const fault of faults.slice(0, 5)) process.stdout.write(`    ${fault.slice(0, 400)}\n`);
    wrong += faults.length;
  }
  process.stdout.write('\nSkipped requests, by reason\n');
  for (const [reason, count] of [...skips].toSorted((a, b) => b[1] - a[1])) {
    process.stdout.write(`${String(count).padStart(5)}  ${reason}\n`);
  }
  process.stdout.write(`\n${wrong} wrong\n`);
  return wrong;
}

const corpus = openCorpus();
if (corpus === undefined) process.stdout.write(NO_CORPUS);
else {
  const recorded = join(corpus.root, 'recorded');
  await checkAnswers(join(recorded, 'responses.jsonl'));
  await checkRequests(join(recorded, 'requests.jsonl'));
  process.exitCode = print() === 0 ? 0 : 1;
}
