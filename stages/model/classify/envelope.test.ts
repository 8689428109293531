import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openEnvelope } from './envelope.ts';

test('cuts off closing tags together with the blanks around them', () => {
  const text = 'line\nline two\n</stdout> \n</output>\n ';
  assert.is(openEnvelope(text).body, 'line\nline two');
  assert.is(openEnvelope(text).suffix, '\n</stdout> \n</output>\n ');
  assert.is(openEnvelope('line\n</other>\n').suffix, '');
  assert.is(openEnvelope('line \n').suffix, '');
});

test('treats every reminder after a result as part of the envelope', () => {
  const text =
    '\n\n<system-reminder>\nNever push.\n</system-reminder>\n<system-reminder>\nAsk.\n</system-reminder>\n';
  assert.is(openEnvelope(`line${text}`).body, 'line');
  assert.is(openEnvelope(`line\n</output>${text}`).body, 'line');
});

const BODY = 'part 1 is read\npart 2 is read';
/** What agents wrap around the output of a command. */
const AROUND: Readonly<Record<string, readonly [before: string, after: string]>> = {
  'Claude Code': ['Exit code 1\n', ''],
  OpenCode: ['', '\n\nCommand exited with code 1'],
  OpenHands: [
    '',
    '\n[The command completed with exit code 0.]\n[Current working directory: /srv]\n[Python interpreter: /usr/bin/python3]\n[Command finished with exit code 0]',
  ],
  'OpenHands, with a prompt': [
    '',
    '\n[Python Interpreter: /usr/bin/python3]\nroot@runtime:/srv # \n[Command finished with exit code 1]',
  ],
  'OpenHands, a file': ["Here's the result of running `cat -n` on /srv/a.py:\n", ''],
  'SWE-agent': ['OBSERVATION:\n', '\n(Open file: n/a)\n(Current directory: /srv)\nbash-$'],
  'SWE-agent, a file': [
    '[File: /srv/a.py (90 lines total)]\n(9 more lines above)\n',
    '\n(71 more lines below)\n(Open file: /srv/a.py)\n(Current directory: /srv)\nbash-$',
  ],
  'Gemini CLI': [
    'Command: cat <<X\na\nX\nDirectory: (root)\nOutput: ',
    '\nError: (none)\nExit Code: 0\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 22',
  ],
};

for (const [agent, [before, after]] of Object.entries(AROUND)) {
  test(`separates the envelope of ${agent} from the output`, () => {
    assert.equal(openEnvelope(before + BODY + after), {
      prefix: before,
      body: BODY,
      suffix: after,
    });
  });
}

test('keeps the carriage return of the last output line', () => {
  const body = 'part 1\r\npart 2\r';
  assert.is(openEnvelope(`${body}\n\n(Open file: n/a)\nbash-$`).body, body);
});

test('returns three parts that join to the text', () => {
  for (const text of ['', ' ', '</output>', 'a</file></file>', `${'x'.repeat(300)}</content>`]) {
    const { prefix, body, suffix } = openEnvelope(text);
    assert.is(prefix + body + suffix, text);
  }
});

test.run();
