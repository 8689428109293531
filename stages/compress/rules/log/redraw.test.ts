import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { estimateTokens } from '../../../model/tokens.ts';
import { builtIn } from '../built-in.ts';
import { hasMark } from '../../text/has-mark.ts';
import { cleanLine, cleanLog } from './clean.ts';
import { makeLog, times } from '../../../../fixtures/compress/texts.ts';

const CONTEXT = makeLog(3500);

test('keeps the last state of a redrawn progress line', () => {
  const cases: readonly (readonly [string, string])[] = [
    [
      'Receiving objects:  10% (1/10)\rReceiving objects: 100% (10/10), done.',
      'Receiving objects: 100% (10/10), done.',
    ],
    [
      'a.whl [===>   ] 1.2 MB 10 kB/s\ra.whl [=======] 3 MB 1.5 MB/s\r',
      'a.whl [=======] 3 MB 1.5 MB/s',
    ],
    ['⠋ installing\r⠙ installing\r⠹ installing', '⠹ installing'],
    ['waiting.\rwaiting..\rwaiting...', 'waiting.\rwaiting..\rwaiting...'],
    ['same words\rsame words', 'same words'],
    ['10% done\r        \rready', '10% done\rready'],
  ];
  for (const [line, printed] of cases) assert.is(cleanLine(line), printed);
});

test('keeps a redrawn line with different content, above all a warning or failure', () => {
  for (const line of [
    'Progress 10%\rERROR: checksum mismatch for a.tar.gz\rProgress 100%',
    'Progress 10%\rwarning: 3% of blocks are bad\rwarning: 4% of blocks are bad\rProgress 100%',
    'Failed 1/9\rFailed 2/9',
    'building a 10%\rbuilding b 10%',
    'Fehler 1/2\rFehler 2/2',
    'INFO step 1 done\rINFO step 2 done',
  ])
    assert.is(cleanLine(line), line);
});

test('treats a move to the first column as a redraw, and keeps the chosen option marked', () => {
  const [esc, ask] = ['\u001b', 'Use the new bundler?'];
  const prompt = `${esc}[?25l${esc}[2K${esc}[1G${esc}[36m?${esc}[39m ${ask} › No / ${esc}[36m${esc}[4mYes${esc}[39m${esc}[24m`;
  assert.is(cleanLine(prompt), `\r? ${ask} › No / ${esc}[4mYes${esc}[24m`.slice(1));
  assert.is(cleanLine(`${esc}[4mNo${esc}[24m / Yes`), `${esc}[4mNo${esc}[24m / Yes`);
  assert.is(cleanLine(`${prompt}${esc}[2K${esc}[1G✔ ${ask}`).split('\r').length, 2);
  assert.is(cleanLine(`at ${esc}[4mhttp://localhost/${esc}[24m now`), 'at http://localhost/ now');
  const bar = times(9, (n) => `${esc}[2K${esc}[Gfetching ${n}0%`).join('');
  assert.is(cleanLine(bar), 'fetching 80%');
});

test('counts the lines that it removes, and removes them only if that is shorter', () => {
  const lines = [
    ...times(40, (n) => `Fetching part ${n} of the tools`),
    times(90, (n) => `tools.tar ${n}% of 40 MB`).join('\r'),
    'all fetched',
  ];
  const context = { ...CONTEXT, classification: { kind: 'log' } } as const;
  const out = cleanLog(lines.join('\n'), context)!.text;
  assert.match(out, 'tools.tar 89% of 40 MB\nall fetched');
  assert.match(
    out,
    '[svc 89 earlier states of progress in the lines above left out; the source is complete]',
  );
  assert.not.match(out, 'tools.tar 5% of');
  const few = [...times(40, (n) => `Fetching part ${n} of the tools`), 'a 5%\ra 9%'].join('\n');
  assert.is(cleanLog(few, context), undefined);
});

test('keeps all records that are separated only by carriage returns', () => {
  const records = times(80, (n) =>
    n === 40 ? 'ERROR disk full on node 7' : `INFO step ${n} done`,
  );
  const text = `${records.join('\r')}\nINFO bye\nINFO end\n`;
  const out = builtIn.apply(text, CONTEXT).text;
  for (const record of records) assert.ok(out.includes(record), record);
});

test('never drops a single long line whole, but keeps it or cuts it to its important parts', () => {
  const words = times(1500, (n) => `unit${n} loaded`).join(' ');
  for (const [text, must] of [
    [`${words} FATAL out of memory in worker 17`, 'FATAL out of memory in worker 17'],
    [`${words} ERROR lost shard 4 ${words}`, 'ERROR lost shard 4'],
    [words, 'unit0 loaded'],
  ] as const) {
    for (const input of [text, `starting\n${text}\n`, `${text}\nbye`]) {
      const { text: out } = builtIn.apply(input, { ...CONTEXT, logBudgetTokens: 1000 });
      assert.ok(out.includes(must), out.slice(0, 200));
      assert.ok(out === input || hasMark(out));
      assert.ok(estimateTokens(out) <= estimateTokens(input));
    }
  }
});

test('finds a failure in text whose letters are spaced out', () => {
  const spaced = (line: string): string => line.replaceAll(/./g, '$&\u0000');
  const error = spaced('ERROR lost shard 4');
  const lines = times(400, (n) => spaced(`unit ${n} loaded from disk`));
  lines[200] = error;
  assert.ok(builtIn.apply(lines.join('\n'), CONTEXT).text.split('\n').includes(error));
});

test.run();
