/**
 * Every fault of a provider (the project's catalogue), in one dialect, as a document and as a
 * stream, without another provider, with one of the same kind and with one of another kind. Each
 * round ends as the table says, with one row and one entry a try in the trace.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { exchange } from '../../server/testing.ts';
import type { Answered } from '../../server/testing.ts';
import { FAULTS, FAULTS_OF_CONNECTIONS } from './faults/testing.ts';
import type { Ending, Fault } from './faults/testing.ts';
import {
  PATHS,
  bodyOf,
  direct,
  expectComplete,
  ownKey,
  pause,
  saidBy,
  traceOf,
  withPair,
  withSpare,
} from './testing.ts';
import type { Pair, PairOptions, Spoken } from './testing.ts';

/** For silences; everything else has the time that a busy machine may take. */
const SHORT = `
providers:
  messages: { timeout_seconds: 0.4, idle_timeout_seconds: 0.4 }
  chat: { timeout_seconds: 0.4, idle_timeout_seconds: 0.4 }`;

interface Round {
  readonly fault: Fault;
  readonly stream: boolean;
  readonly dialect: Spoken;
  readonly spare: Spoken | undefined;
  readonly number: number;
}

/** What a round came to. */
interface Played {
  readonly id: string;
  readonly name: string;
  readonly row: 'ok' | 'error' | 'partial';
  readonly provider: string;
  readonly attempts: number;
}

async function play(t: Pair, round: Round): Promise<Played> {
  const { fault, stream, dialect, number } = round;
  const name = `${fault.label}, ${dialect}${stream ? ', stream' : ''}, spare ${round.spare}`;
  const path = `${PATHS[dialect]}?n=${number}`;
  const stop = await begin(t, fault, new RegExp(`[?&]n=${number}$`));
  const sent = { path, body: bodyOf(dialect, stream), headers: ownKey(dialect) };
  const got = await exchange(t.proxy.port, sent);
  const { request_id: id, attempts, outcome } = await traceOf(t, got);
  const ending = endingOf(round);
  const isTaken = attempts.length > 1;
  const original = ending.as === 'relayed' && !isTaken ? await direct(t.upstream, sent) : undefined;
  await stop();
  if (round.spare === undefined) assert.is(attempts.length, 1, `${name}: one try`);
  const wants = stream ? fault.takenOver.stream : fault.takenOver.whole;
  if (round.spare !== undefined && wants !== 'either') assert.is(isTaken, wants, `${name}: taken`);
  if (!isTaken) {
    expectEnding(name, dialect, ending, got, original);
    return { id, name, row: rowOf(ending), provider: dialect, attempts: 1 };
  }
  assert.is(attempts.length, 2, `${name}: two tries`);
  assert.equal(
    attempts.map((each) => [each.provider, each.failure === null]),
    [
      [dialect, false],
      ['spare', true],
    ],
    name,
  );
  assert.is(outcome, 'ok', name);
  await expectSpare(t, round, name, sent, got);
  return { id, name, row: 'ok', provider: 'spare', attempts: 2 };
}

/** Brings the fault about, for requests that `matcher` takes or for every connection; returns its end. */
async function begin(
  { upstream }: Pair,
  { scenario, options }: Fault,
  matcher: RegExp,
): Promise<() => void | Promise<void>> {
  if (scenario === 'refused') {
    await upstream.stopListening();
    return () => upstream.listenAgain();
  }
  return upstream.script(scenario.endsWith('-at-accept') ? undefined : matcher, scenario, options);
}

function endingOf({ fault, stream, dialect }: Round): Ending {
  if (!stream && fault.whole !== undefined) return fault.whole;
  return dialect === 'chat' ? (fault.streamInChat ?? fault.stream) : fault.stream;
}

/** The client sees the other provider's answer, all of it and nothing else. */
async function expectSpare(
  t: Pair,
  { dialect, spare, stream }: Round,
  name: string,
  sent: { readonly path: string; readonly body: string },
  got: Answered,
): Promise<void> {
  assert.is(got.status, 200, name);
  assert.ok(got.whole, name);
  const original = await direct(t.spare, sent);
  if (spare === dialect) assert.ok(got.body.equals(original.body), `${name}: bytes of the spare`);
  assert.is(saidBy(dialect, stream, got.text), saidBy(dialect, stream, original.text), name);
  if (stream) expectComplete(dialect, got.text, name);
}

function expectEnding(
  name: string,
  dialect: Spoken,
  ending: Ending,
  got: Answered,
  original: Answered | undefined,
): void {
  if (ending.as === 'relayed') {
    assert.is(got.status, original?.status, name);
    assert.ok(got.whole, `${name}: whole`);
    assert.ok(original !== undefined && got.body.equals(original.body), `${name}: bytes`);
  } else if (ending.as === 'refused') {
    assert.is(got.status, ending.status, name);
    const { error } = JSON.parse(got.text) as { error: { code?: string } };
    assert.is(error.code, ending.code, name);
    assert.not.match(got.text, /undefined|127\.0\.0\.1/, name);
  } else if (ending.as === 'error event') {
    assert.is(got.status, 200, name);
    assert.ok(got.whole, `${name}: the stream ends after its error event`);
    const last = got.text.split('\n\n').at(-2) ?? '';
    const pattern =
      dialect === 'messages' ? /^event: error\ndata: \{"type":"error"/ : /^data: \{"error":/;
    assert.match(last, pattern, name);
    assert.not.match(got.text, /event: message_stop|\[DONE\]/, name);
  } else assert.not.ok(got.whole, `${name}: the connection breaks off`);
}

function rowOf(ending: Ending): Played['row'] {
  if (ending.as === 'relayed') return ending.row;
  return ending.as === 'refused' ? 'error' : 'partial';
}

function roundsOf(faults: readonly Fault[], dialect: Spoken, spare: Spoken | undefined): Round[] {
  const rounds: Omit<Round, 'number'>[] = faults.flatMap((fault) => {
    const streaming = { fault, stream: true, dialect, spare };
    return fault.whole === undefined ? [streaming] : [{ ...streaming, stream: false }, streaming];
  });
  return rounds.map((round, number) => ({ ...round, number }));
}

/** Fewer than it takes to open a breaker. */
const SIDE_BY_SIDE = 4;
/** What is done to an idle connection would hit whoever uses it next, and what is done to every one whoever is beside it. */
const ALONE = /idle|extra|trailing|-at-accept|refused/;

async function playAll(t: Pair, rounds: readonly Round[]): Promise<Played[]> {
  const played: Played[] = [];
  for (const round of rounds.filter(({ fault }) => ALONE.test(fault.label))) {
    t.recover();
    played.push(await play(t, round));
    await pause(10);
  }
  const waiting = rounds.filter(({ fault }) => !ALONE.test(fault.label));
  const lane = async (): Promise<void> => {
    for (let round = waiting.shift(); round !== undefined; round = waiting.shift()) {
      t.recover();
      played.push(await play(t, round));
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lane));
  return played;
}

async function expectRows(t: Pair, played: readonly Played[]): Promise<void> {
  const rows = await t.rows(played.length);
  assert.is(rows.length, played.length);
  const byId = new Map(rows.map((row) => [row.id, row]));
  assert.is(byId.size, played.length);
  for (const { id, name, row: outcome, provider, attempts } of played) {
    const row = byId.get(id);
    assert.is(row?.outcome, outcome, `${name}: outcome`);
    assert.is(row?.provider, provider, `${name}: provider`);
    assert.is(row?.attempts, attempts, `${name}: attempts`);
  }
}

function playWith(
  yaml: PairOptions['yaml'],
  seed: number,
  rounds: readonly Round[],
): Promise<void> {
  return withPair({ yaml, upstream: { seed } }, async (t) => {
    await expectRows(t, await playAll(t, rounds));
  });
}

/** Makes the tests of one dialect for the seeds 1 to `seeds`, without a spare provider and with one of each kind. */
export function testTable(dialect: Spoken, seeds: number): void {
  for (const spare of [undefined, 'messages', 'chat'] as const) {
    test(`${dialect} with ${spare === undefined ? 'no spare' : `a spare of ${spare}`}`, async () => {
      for (let seed = 1; seed <= seeds; seed += 1) {
        const rounds = roundsOf(FAULTS, dialect, spare);
        const isSilence = ({ fault }: Round): boolean => fault.label.startsWith('stall');
        const silences = rounds.filter(isSilence);
        const others = rounds.filter((round) => !isSilence(round));
        await playWith(withSpare(spare, SHORT), seed, silences);
        await Promise.all([
          playWith(withSpare(spare, 'providers:\n  chat: {}'), seed, others),
          // None of these leaves a connection that the next one could meet instead.
          playWith(withSpare(spare, SHORT), seed, roundsOf(FAULTS_OF_CONNECTIONS, dialect, spare)),
        ]);
      }
    });
  }
}
