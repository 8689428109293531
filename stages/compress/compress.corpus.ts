/**
 * All recorded requests, conversations and texts through the real compress stage, in every
 * mode. Run as `node dist/stages/compress/compress.corpus.js`; `SVC_CORPUS`, or
 * `../shared/corpus` beside the project, names the recordings. Prints what was proved and
 * of how much; every fault by file and block. Exits 1 on a fault.
 *
 * - Whatever is protected goes out byte for byte; calls, results, their order and ids, and
 *   every cache marker stay.
 * - What goes upstream in one turn begins with what went in the turn before, markers that
 *   move aside: for every turn of every conversation, in a proxy that goes on as in one
 *   that was started for this turn without a cache, with and without what was remembered.
 * - No text grows in bytes or tokens, none becomes empty, no line is made up; code has the
 *   same tokens, JSON the same values, configuration the same settings.
 * - What went out once goes out the same when it is sent again.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { codeFiles } from '../../bench/quality/samples.ts';
import { NO_CORPUS, openCorpus, type Corpus, type CorpusTextClass } from '../../fixtures/corpus.ts';
import { projectRoot } from '../../fixtures/paths.ts';
import {
  bodyFaults,
  MODES,
  newThread,
  noBodies,
  settingsOf,
  startSender,
  structureFaults,
  textFaults,
  type BodyCounts,
  type ModeName,
  type Sender,
} from './corpus/requests.corpus.ts';
import {
  createTextChecks,
  noTexts,
  type TextChecks,
  type TextCounts,
} from './corpus/texts.corpus.ts';
import {
  chatTurns,
  lastingPart,
  messagesTurns,
  responsesTurns,
  type Turns,
} from './corpus/turns.corpus.ts';

const THRESHOLD_TOKENS = 4500;

const faults: string[] = [];

function found(where: string, list: readonly string[]): void {
  for (const fault of list) faults.push(`${where}: ${fault}`);
}

interface Counts {
  readonly bodies: BodyCounts;
  readonly texts: TextCounts;
  turns: number;
  restarts: number;
}

interface Run {
  readonly mode: ModeName;
  readonly checks: TextChecks;
  readonly counts: Counts;
}

/** Every recorded request by itself, above and below the threshold. */
async function checkRequests(corpus: Corpus, run: Run): Promise<void> {
  for (const threshold of [THRESHOLD_TOKENS, 0]) {
    const settings = settingsOf(run.mode, threshold);
    const sender = await startSender(settings);
    const again = await startSender(settings);
    for (const { id, path, body } of corpus.requests()) {
      const sent = await sender.send(path, body, id);
      const where = `requests.jsonl ${id} (${run.mode}, from ${threshold} tokens)`;
      found(where, bodyFaults(sent, run.counts.bodies));
      found(where, structureFaults(sent, run.counts.bodies));
      found(where, await textFaults(sent, settings, again, run.checks, run.counts));
    }
    await Promise.all([sender.close(), again.close()]);
  }
}

/** Every text of a class, as what a tool printed or a file that it read. */
async function checkTexts(corpus: Corpus, run: Run): Promise<void> {
  const settings = settingsOf(run.mode, 0);
  const sender = await startSender(settings);
  const again = await startSender(settings);
  for (const { name, text, path } of textsOf(corpus)) {
    const input = path === undefined ? { command: 'make' } : { file_path: path };
    const use = { type: 'tool_use', id: 't', name: path === undefined ? 'Bash' : 'Read', input };
    const body = {
      model: 'm',
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'What is in there?' },
        { role: 'assistant', content: [use] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: text }] },
      ],
    };
    const sent = await sender.send('/v1/messages', Buffer.from(JSON.stringify(body)), name);
    const where = `${name} (${run.mode})`;
    found(where, bodyFaults(sent, run.counts.bodies));
    found(where, structureFaults(sent, run.counts.bodies));
    found(where, await textFaults(sent, settings, again, run.checks, run.counts));
  }
  await Promise.all([sender.close(), again.close()]);
}

const PRINTED: readonly CorpusTextClass[] = ['json', 'markdown', 'stacktrace', 'test-output'];

function* textsOf(corpus: Corpus): Generator<{ name: string; text: string; path?: string }> {
  for (const kind of PRINTED)
    for (const { id, text } of corpus.texts(kind)) yield { name: `${kind}.jsonl ${id}`, text };
  for (const { id, text, source } of corpus.texts('config'))
    yield { name: `config.jsonl ${id}`, text, path: source.path };
  for (const { id, text } of corpus.logs()) yield { name: `ci_logs_logdx.jsonl ${id}`, text };
  for (const { id, context } of corpus.questions('long'))
    yield { name: `squad_long.jsonl ${id}`, text: context };
  for (const path of codeFiles(projectRoot, 20))
    yield { name: path, text: readFileSync(path, 'utf8'), path: `source${extname(path)}` };
}

/** Every turn of one conversation: in a proxy that goes on, and in one that begins anew each time. */
async function checkTurns(turns: Turns, run: Run, home: string): Promise<void> {
  const settings = settingsOf(run.mode, THRESHOLD_TOKENS);
  const goesOn = await startSender(settings);
  const thread = newThread(0);
  const where = `transcripts.jsonl ${turns.id} (${turns.dialect}, ${run.mode})`;
  let before = '';
  for (let turn = 0; turn < turns.count; turn += 1) {
    if (!isLookedAt(turns, turn)) continue;
    const body = turns.body(turn);
    const sent = await goesOn.send(turns.target, body);
    if (isStep(turns, turn))
      found(`${where}, turn ${turn + 1}`, bodyFaults(sent, run.counts.bodies));
    const lasting = lastingPart(sent.bytes);
    if (!lasting.startsWith(before))
      found(`${where}, turn ${turn + 1}`, [changed(before, lasting)]);
    before = lasting;
    run.counts.turns += 1;
    if (restarts(turns, run.mode) && isStep(turns, turn)) {
      const fresh = await startAnew(run.counts.restarts % 2 === 0, run.mode, home, thread);
      const { bytes } = await fresh.send(turns.target, body);
      await fresh.close();
      run.counts.restarts += 1;
      if (!bytes.equals(sent.bytes))
        found(`${where}, turn ${turn + 1}, started anew`, [changed(lasting, lastingPart(bytes))]);
    }
    if (turn < turns.count - 1) continue;
    const again = await startSender(settings);
    found(where, structureFaults(sent, run.counts.bodies));
    found(where, await textFaults(sent, settings, again, run.checks, run.counts));
    await again.close();
  }
  await Promise.all([goesOn.close(), thread.close()]);
}

const LONG_TURNS = 150;
const STEP = 8;

/** Every turn as Claude Code sends it; in the other dialects every eighth of a very long conversation, and its last. */
function isLookedAt(turns: Turns, turn: number): boolean {
  return turns.dialect === 'messages' || isStep(turns, turn);
}

/** Every turn of a usual conversation, of a very long one every eighth and its last: the work grows with the square. */
function isStep({ count }: Turns, turn: number): boolean {
  return count <= LONG_TURNS || turn % STEP === 0 || turn === count - 1;
}

/** What is compressed from nothing in every turn costs its square; the two other modes have nothing to begin anew with. */
function restarts({ dialect }: Turns, mode: ModeName): boolean {
  return dialect === 'messages' && (mode === 'hybrid' || mode === 'aggressive');
}

/** A proxy without any cache: in half of the turns with the decisions of those before it, else with none at all. */
function startAnew(
  remembers: boolean,
  mode: ModeName,
  home: string,
  thread: ReturnType<typeof newThread>,
): Promise<Sender> {
  const settings = { ...settingsOf(mode, THRESHOLD_TOKENS), cacheEntries: 0 };
  const folder = remembers ? home : mkdtempSync(join(home, 'empty-'));
  return startSender(settings, join(folder, 'decisions.jsonl'), thread);
}

function changed(was: string, is: string): string {
  let at = 0;
  while (at < was.length && was[at] === is[at]) at += 1;
  const around = (text: string): string =>
    JSON.stringify(text.slice(Math.max(0, at - 60), at + 40));
  return `the prefix changes at byte ${at}: ${around(was)} became ${around(is)}`;
}

async function checkConversations(corpus: Corpus, run: Run): Promise<void> {
  for (const transcript of corpus.transcripts()) {
    const home = mkdtempSync(join(tmpdir(), 'svc-turns-'));
    const dialects = [messagesTurns, chatTurns, responsesTurns];
    await Promise.all(dialects.map((toTurns) => checkTurns(toTurns(transcript), run, home)));
    rmSync(home, { recursive: true });
  }
}

function print({ mode, counts }: Run): void {
  const { bodies, texts, turns, restarts: fresh } = counts;
  const lines = [
    `${bodies.bodies} bodies, ${bodies.changed} of them made smaller, all else byte for byte`,
    `in requests and last turns ${bodies.protectedBlocks} protected blocks, ${bodies.pairs} results behind their calls, ${bodies.markers} cache markers`,
    `${turns} turns begin with the turn before; ${fresh} of them also after a start from nothing`,
    `${bodies.twice} bodies sent a second time`,
    `texts: ${Object.entries(texts)
      .map(([what, count]) => `${count} ${what}`)
      .join(', ')}`,
  ];
  process.stdout.write(`${mode}\n  ${lines.join('\n  ')}\n`);
}

async function checkMode(corpus: Corpus, mode: ModeName, checks: TextChecks): Promise<Run> {
  const counts = { bodies: noBodies(), texts: noTexts(), turns: 0, restarts: 0 };
  const run: Run = { mode, checks, counts };
  await checkRequests(corpus, run);
  if (counts.bodies.bodies === 0) found(mode, ['no recorded request was checked']);
  await checkTexts(corpus, run);
  await checkConversations(corpus, run);
  if (counts.turns === 0) found(mode, ['no turn was checked']);
  return run;
}

const isMode = (name: string): name is ModeName => (MODES as readonly string[]).includes(name);

/** Checks the modes that are named; all where none is. A name of no mode is a fault. */
async function main(named: readonly string[]): Promise<void> {
  const modes = named.length === 0 ? MODES : named.filter(isMode);
  if (modes.length < named.length) {
    process.stdout.write(`The modes are ${MODES.join(', ')}, not ${named.join(', ')}\n`);
    process.exitCode = 1;
    return;
  }
  const corpus = openCorpus();
  if (corpus === undefined) {
    process.stdout.write(NO_CORPUS);
    return;
  }
  const checks = await createTextChecks();
  const start = performance.now();
  // Side by side, so that one reads and compares while the other's thread compresses.
  const runs = await Promise.all(modes.map((mode) => checkMode(corpus, mode, checks)));
  for (const run of runs) print(run);
  process.stdout.write(`${((performance.now() - start) / 1000).toFixed(0)} s\n`);
  process.stdout.write(
    `Of conversations of more than ${LONG_TURNS} turns every turn is sent in the messages dialect, every ${STEP}th in the others; every ${STEP}th is searched for changed bytes and sent after a start from nothing as well.\n`,
  );
  for (const fault of faults.slice(0, 100)) process.stdout.write(`${fault.slice(0, 600)}\n`);
  process.stdout.write(`${faults.length} faults\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}

await main(process.argv.slice(2));
