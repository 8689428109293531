/** Completion in the real zsh and fish, by key press. Needs both, and python3 for a terminal. */
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { entry, makePlace } from '../../fixtures/cli/run.ts';

/** Typed text, and what the shell completes it to. */
const LINES = [
  ['svc integ', 'svc integrate'],
  ['svc config val', 'svc config validate'],
  ['svc doctor --off', 'svc doctor --offline'],
  ['svc integrate codex --ap', 'svc integrate codex --apply'],
  ['svc config show --json --cha', 'svc config show --json --changed'],
] as const;

const script = (shell: string) =>
  execFileSync(process.execPath, [entry, 'completion', shell], { encoding: 'utf8' });

/** Types argv[2] and a tabulator into an interactive zsh; exits with 0 when argv[3] appears. */
const TYPE = `
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM='dumb', PS1='% ')
    os.execvp('zsh', ['zsh', '-f', '-i'])
out = b''
def until(wanted, seconds):
    global out
    end = time.time() + seconds
    while wanted not in out and time.time() < end:
        if select.select([fd], [], [], 0.2)[0]:
            out += os.read(fd, 65536)
    return wanted in out
os.write(fd, b'autoload -U compinit; compinit -u -D; source %s; echo rea""dy\\n' % sys.argv[1].encode())
until(b'ready', 60)
out = b''
os.write(fd, sys.argv[2].encode() + b'\\t')
found = until(sys.argv[3].encode(), 30)
os.write(1, out)
os.kill(pid, 9)
sys.exit(0 if found else 1)
`;

test('zsh completes commands, options, and options after arguments', () => {
  const place = makePlace();
  const file = join(place.folder, '_svc');
  writeFileSync(file, script('zsh'));
  for (const [typed, completed] of LINES) {
    const ran = spawnSync('python3', ['-c', TYPE, file, typed, completed], { encoding: 'utf8' });
    assert.is(ran.status, 0, `${typed}: ${ran.stdout}${ran.stderr}`);
  }
  place.dispose();
});

test('fish completes the same, with a description of each', () => {
  const place = makePlace();
  const file = join(place.folder, 'svc.fish');
  writeFileSync(file, script('fish'));
  const ask = (typed: string) => {
    const line = `source ${file}; complete -C'${typed}'`;
    const { status, stdout, stderr } = spawnSync('fish', ['-c', line], {
      encoding: 'utf8',
      env: { ...place.env },
      cwd: place.folder,
    });
    assert.equal([status, stderr], [0, ''], typed);
    return stdout;
  };
  for (const [typed, completed] of LINES)
    assert.match(ask(typed), new RegExp(`^${completed.split(' ').at(-1)}\t\\S`, 'm'), typed);
  assert.is(ask('svc no-such --js'), '');
  place.dispose();
});

test.run();
