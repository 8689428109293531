/** A command in a pseudo terminal, for tests: no native package, what the machine has serves. */
import { spawn, spawnSync } from 'node:child_process';
import { entry } from './testing.ts';
import type { Place } from './testing.ts';

/** How a command gets its terminal. */
export interface Terminal {
  readonly name: 'script' | 'python3';
  readonly argv: (columns: number, command: readonly string[]) => readonly string[];
}

const PYTHON = `
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 50, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
while True:
    try:
        piece = os.read(fd, 65536)
    except OSError:
        break
    if not piece:
        break
    os.write(1, piece)
os.waitpid(pid, 0)
`;

const TERMINALS: readonly Terminal[] = [
  {
    name: 'script',
    argv: (columns, command) => [
      'script',
      '-qec',
      `stty cols ${columns} rows 50 && exec ${command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ')}`,
      '/dev/null',
    ],
  },
  {
    name: 'python3',
    argv: (columns, command) => ['python3', '-c', PYTHON, String(columns), ...command],
  },
];

/** What this machine has; undefined where there is neither. */
export function findTerminal(): Terminal | undefined {
  return TERMINALS.find(({ argv }) => {
    const [program = '', ...rest] = argv(80, ['stty', 'size']);
    const ran = spawnSync(program, rest, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return ran.error === undefined && ran.stdout.includes('50 80');
  });
}

/** Runs `svc` with `argv` on a screen of `columns`; resolves with all it wrote, as lines. */
export function runInTerminal(
  { argv: toArgv }: Terminal,
  columns: number,
  place: Place,
  argv: readonly string[],
): Promise<readonly string[]> {
  const [program = '', ...rest] = toArgv(columns, [process.execPath, entry, ...argv]);
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, {
      cwd: place.folder,
      env: { ...place.env, TERM: 'xterm-256color' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (piece: Buffer) => (output += piece.toString()));
    child.on('error', reject);
    child.on('close', () => resolve(output.replaceAll('\r\n', '\n').split('\n')));
  });
}
