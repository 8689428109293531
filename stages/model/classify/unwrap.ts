/** The program that really runs, after `sudo`, `env A=b`, `npx`, `docker exec` and the like. */
import { afterFlags, valueFlags, type Valued } from './flags.ts';

/** The arguments of a program that runs another one. */
interface Wrapper {
  readonly flags: Valued;
  /** Number of its own operands before the other program: a host, a container, a duration. */
  readonly operands: number;
}

/** Placeholder for a name that is only known when the command runs. */
export const FILE_PLACEHOLDER = '{}';

const CONTAINER = '-e --env --env-file -u --user -w --workdir --detach-keys --index';
const CONTAINER_MADE = `${CONTAINER} -v --volume -p --publish -l --label -h --hostname -m --memory -c --cpu-shares -a --attach
  --name --network --net --entrypoint --mount --platform --cpus --gpus --add-host --cap-add --cap-drop --device --dns --expose --ip --link
  --log-driver --log-opt --pid --ipc --uts --userns --restart --runtime --security-opt --shm-size --tmpfs --ulimit --volumes-from --pull`;
const CLUSTER =
  '-n --namespace -s --server --context --kubeconfig --cluster --user --as --token --request-timeout -l --selector';

/** Names, flags with a value, operands. */
const WRAPPERS = wrappers([
  ['sudo', '-u -g -p -h -C -D -R -r -t -T -U --user --group --prompt --host --chdir --chroot', 0],
  ['doas', '-u -C', 0],
  ['env', '-u -C -S --unset --chdir --split-string', 0],
  ['xargs', '-n -I -P -L -d -E -s -a --max-args --max-procs --max-chars --delimiter --arg-file', 0],
  ['nice', '-n --adjustment', 0],
  ['ionice', '-c -n -p --class --classdata', 0],
  ['timeout, gtimeout', '-k -s --kill-after --signal', 1],
  ['stdbuf', '-i -o -e --input --output --error', 0],
  ['npx', '-p -c --package -w --workspace', 0],
  ['uvx, pipx', '--from --with --python -p --spec', 0],
  ['watch', '-n --interval', 0],
  ['time', '-o -f --output --format', 0],
  ['chroot', '--userspec --groups', 1],
  ['flock', '-w -E --wait --timeout --conflict-exit-code', 1],
  ['taskset', '', 1],
  ['bunx, pnpx, command, exec, nohup, builtin, unbuffer, busybox, setsid, chronic', '', 0],
  ['docker exec, podman exec, docker-compose exec', CONTAINER, 1],
  ['docker run, podman run, docker-compose run', CONTAINER_MADE, 1],
  ['kubectl exec, oc exec', `${CLUSTER} -c --container -f --filename`, 1],
  ['poetry run, pipenv run, hatch run, pdm run, rye run', '', 0],
  ['bundle exec, pnpm exec, yarn exec, direnv exec, mise exec', '', 0],
  [
    'uv run',
    '-p --python --with --with-editable --with-requirements --extra --group --only-group --package --project --directory --env-file',
    0,
  ],
  ['conda run, mamba run', '-n -p --name --prefix --cwd', 0],
  ['npm exec', '-p -c --package -w --workspace', 0],
  ['pnpm dlx, yarn dlx', '-p --package', 0],
]);

/** A program's own flags before its subcommand, `git -C folder diff`, that take a value. */
const OWN_FLAGS: ReadonlyMap<string, Valued> = new Map(
  (
    [
      ['git', '-C -c --git-dir --work-tree --namespace --config-env'],
      ['kubectl oc helm', CLUSTER],
      ['docker podman', '-H -c -l --host --context --config --log-level --tlscacert --tlscert'],
      [
        'docker-compose',
        '-f -p --file --project-name --profile --env-file --project-directory --ansi --progress --parallel',
      ],
      [
        'npm pnpm yarn bun',
        '--prefix -C -w --workspace --cwd --filter -F --dir --loglevel --userconfig',
      ],
      ['cargo', '-C -Z --config --color'],
      ['go', '-C'],
      ['uv', '--directory --project --config-file --cache-dir --color'],
      ['poetry', '-C -P --directory --project'],
      ['mvn mvnw', '-f -pl -P -s -gs -t -T -b -l --file --projects --activate-profiles --settings'],
      [
        'gradle gradlew',
        '-p -b -c -g -I -x --project-dir --build-file --settings-file --gradle-user-home --init-script --exclude-task --console --max-workers',
      ],
      ['make gmake', '-C -f -I -j# -l# -o -W --directory --file'],
      ['rake', '-f -I -r --rakefile --libdir --require'],
    ] as const
  ).flatMap(([names, flags]) => names.split(' ').map((name) => [name, valueFlags(flags)] as const)),
);

const PYTHON_FLAGS = valueFlags('-W -X --check-hash-based-pycs');
const ASSIGNMENT = /^\w+=/;

function wrappers(
  rows: readonly (readonly [names: string, flags: string, operands: number])[],
): ReadonlyMap<string, Wrapper> {
  return new Map(
    rows.flatMap(([names, flags, operands]) =>
      names.split(', ').map((name) => [name, { flags: valueFlags(flags), operands }] as const),
    ),
  );
}

/**
 * Returns the words of a simple command from its program on, without the program's folder,
 * extension and own flags before a subcommand. Names fed to the program appear as `{}`.
 */
export function unwrap(words: readonly string[]): readonly string[] {
  let rest = words;
  for (;;) {
    const start = rest.findIndex((word) => !ASSIGNMENT.test(word));
    if (start < 0) return [];
    const name = nameOf(rest[start]!);
    const args = fromSubcommand(name, rest.slice(start + 1));
    const inner = innerOf(name, args);
    if (inner.length === 0) return [name, ...args];
    rest = inner;
  }
}

/** Returns what `name` runs; empty if it runs nothing else. */
function innerOf(name: string, args: readonly string[]): readonly string[] {
  if (/^(?:python|pypy)[\d.]*$|^py$/.test(name)) return pythonRuns(args);
  if (name === 'docker' && args[0] === 'compose') return ['docker-compose', ...args.slice(1)];
  const wrapper = WRAPPERS.get(name);
  if (wrapper !== undefined) {
    const inner = argumentsAfter(args, wrapper);
    return name === 'xargs' && inner.length > 0 && !namesFolder(args, inner)
      ? [...inner, FILE_PLACEHOLDER]
      : inner;
  }
  const subcommand = WRAPPERS.get(`${name} ${args[0]}`);
  return subcommand === undefined ? [] : argumentsAfter(args.slice(1), subcommand);
}

/** Returns the arguments after a wrapper's flags and operands, which may be interleaved. */
function argumentsAfter(args: readonly string[], { flags, operands }: Wrapper): readonly string[] {
  let rest = afterFlags(args, flags);
  for (let count = 0; count < operands; count++) rest = afterFlags(rest.slice(1), flags);
  return rest;
}

/** Returns true if `xargs` has an option for where in the command the names go. */
function namesFolder(args: readonly string[], inner: readonly string[]): boolean {
  return args.slice(0, -inner.length).some((arg) => /^(?:-\w*[Ii]|--replace)/.test(arg));
}

function pythonRuns(args: readonly string[]): readonly string[] {
  const rest = afterFlags(args, PYTHON_FLAGS);
  const lastFlag = args[args.length - rest.length - 1] ?? '';
  return /^-\w*m$/.test(lastFlag) || /^[\w./-]+\.py$/.test(rest[0] ?? '') ? rest : [];
}

function nameOf(word: string): string {
  const name = word.slice(Math.max(word.lastIndexOf('/'), word.lastIndexOf('\\')) + 1);
  return name.replace(/\.(?:exe|cmd|bat|ps1|py|sh|js)$/i, '').toLowerCase() || name;
}

function fromSubcommand(name: string, args: readonly string[]): readonly string[] {
  const flags = OWN_FLAGS.get(name);
  if (flags === undefined) return args;
  const isToolchain = name === 'cargo' && args[0]?.startsWith('+') === true;
  const rest = afterFlags(isToolchain ? args.slice(1) : args, flags);
  return rest.length === 0 ? args : rest;
}
