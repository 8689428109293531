/**
 * What programs print, by name. A name may have two or three words, `git diff`, `uv pip list`: then
 * the program's first arguments decide, and the shorter name covers all others.
 */
import type { TextClass } from './classes.ts';

/**
 * A program's role in the visible output: it prints text of a class, shows files as they are,
 * passes its input on, or prints next to nothing. A program that runs part of the project mostly
 * reports how that went (`run`); one that fetches or opens archives may print anything.
 */
export type Role = TextClass | 'file' | 'filter' | 'silent' | 'run' | 'anything';

/** Programs whose argument is mostly a script of the project. */
const SCRIPT_RUNNERS = ['npm', 'pnpm', 'yarn', 'bun'];
const RUNNER_QUERIES =
  'ls list ll la view info show outdated config version -v --version help why explain search ping root prefix bin whoami owner access dist-tag repo docs bugs fund query pkg get licenses';

/**
 * Programs that report on their own work and print nothing else unless asked for something: neither
 * script runners nor programs that print a reformatted file.
 */
const REPORTS_ONLY = `pytest py.test unittest nose2 nose2-3 nosetests behave jest vitest mocha ava jasmine tape cypress playwright karma phpunit rspec minitest ctest
  gotestsum busted bats prove tsc vue-tsc eslint oxlint biome ruff mypy pyright flake8 pylint isort stylelint standard jshint htmlhint markdownlint
  golangci-lint rubocop shellcheck hadolint phpcs phpcbf phpstan psalm perlcritic cppcheck yamllint meson webpack rollup vite parcel tsup rspack
  tap-spec pino-pretty commitlint cspell codespell depcheck knip pre-commit rustc javac gcc g++ cc c++ clang clang++ gfortran nasm protoc bison strace
  ltrace rsync sphinx-build ffmpeg fpc ocamlc ocamlopt mcs csc valac gnatmake uvu latex pdflatex xelatex lualatex pdftex latexmk bibtex biber journalctl dmesg`;

/**
 * Programs that are used for queries as often as for actions. If neither of their first two words
 * is a query, they report how their action went.
 */
const QUERY_OR_ACTION = `docker podman docker-compose kubectl helm oc aws gcloud az gh glab terraform tofu pulumi pip uv poetry conda mamba apt apt-get aptitude
  apk yum dnf brew gem bundle composer dotnet swift go rustup nvm pyenv asdf mise volta systemctl service snap flatpak`;

/** One row per role: one-word names separated by spaces, longer names on their own. */
const TABLE: readonly (readonly [Role, string, ...(readonly string[])])[] = [
  [
    'log',
    `${REPORTS_ONLY} tox nox runtests run_tests run-tests npm pnpm yarn bun cargo make gmake cmake ninja bazel bazelisk buck gradle gradlew mvn mvnw ant sbt lein mix rake
     xcodebuild msbuild kotlinc scalac ghc stack cabal black prettier clippy-driver esbuild tap gulp grunt sass swc babel browserify terser concurrently
     nodemon valgrind lint-staged madge xo qunit typedoc turbo nx lerna rush next nuxt configure autoreconf`,
    ...programNames('docker', 'build logs pull push start up'),
    ...programNames('docker image', 'build pull push'),
    ...programNames('docker container', 'logs start'),
    ...programNames('docker buildx', 'build bake'),
    ...programNames('podman', 'build logs pull push start'),
    ...programNames('docker-compose', 'up build logs pull push start stop down restart'),
    ...programNames('kubectl', 'logs'),
    ...programNames('go', 'test build vet install get generate'),
    ...programNames('go mod', 'download tidy vendor verify'),
    ...programNames('pip', 'install download wheel uninstall'),
    ...programNames('uv', 'sync add remove lock build'),
    ...programNames('uv pip', 'install sync uninstall'),
    ...programNames('uv tool', 'install upgrade uninstall'),
    'uv python install',
    ...programNames('poetry', 'install add update lock build remove'),
    ...programNames('conda', 'install create update remove'),
    ...programNames('conda env', 'create update remove'),
    ...['apt', 'apt-get', 'aptitude'].flatMap((name) =>
      programNames(
        name,
        'install update upgrade remove purge autoremove full-upgrade dist-upgrade build-dep',
      ),
    ),
    ...programNames('dpkg', '-i --install -r --remove -P --purge --configure --unpack'),
    ...programNames('rpm', '-i -U -e -ivh -Uvh --install --upgrade --erase'),
    ...programNames('snap', 'install refresh remove'),
    ...programNames('aws s3', 'cp sync mv rm'),
    ...programNames('apk', 'add update upgrade del'),
    ...programNames('yum', 'install update upgrade'),
    ...programNames('dnf', 'install update upgrade'),
    ...programNames('brew', 'install update upgrade'),
    ...programNames('gem', 'install update'),
    ...programNames('bundle', 'install update'),
    ...programNames('composer', 'install update require'),
    ...programNames('dotnet', 'build test restore publish'),
    ...programNames('swift', 'build test'),
    ...programNames('terraform', 'init apply destroy'),
    ...programNames('manage', 'test migrate'),
    ...programNames('git', 'clone pull push merge rebase cherry-pick revert am gc fsck submodule'),
  ],
  [
    'diff',
    'diff colordiff interdiff wdiff',
    ...programNames('git', 'diff show format-patch'),
    'git stash show',
    'svn diff',
    'hg diff',
  ],
  [
    'grep',
    'grep egrep fgrep zgrep rg ripgrep ag ack ugrep pcregrep findstr select-string sls',
    'git grep',
  ],
  [
    'listing',
    'ls find tree fd fdfind eza exa lsd dir locate get-childitem gci vdir du',
    'git ls-files',
    'git ls-tree',
  ],
  [
    'other',
    `${QUERY_OR_ACTION} git svn hg
     dpkg dpkg-query rpm apt-cache launchctl loginctl timedatectl hostnamectl
     ps top htop pgrep jobs lsof fuser netstat ss ip ifconfig route arp iptables nft nmap dig host nslookup whois df free vmstat iostat
     lsblk blkid mount lscpu lspci lsusb lsmod uname uptime who w last id groups getent env printenv set locale ulimit crontab at
     date whoami nproc arch tty cal ncal which whereis seq expr
     wc stat file md5sum sha1sum sha256sum sha512sum cksum b2sum xxd hexdump od strings nm objdump readelf ldd size
     psql mysql mariadb sqlite3 sqlite duckdb clickhouse-client sqlcmd bq mongo mongosh redis-cli
     man info help tldr column csvlook xsv qsv mlr csvcut csvsql tasklist get-process get-service ollama openssl keytool
     comm cmp update-alternatives alternatives tmux screen zpool zfs kafka-topics etcdctl consul vault nomad`,
    ...SCRIPT_RUNNERS.flatMap((name) => programNames(name, RUNNER_QUERIES)),
    ...programNames(
      'cargo',
      'tree metadata search info version --version --list help locate-project pkgid config',
    ),
    ...programNames('bazel', 'query cquery aquery info version'),
    ...programNames('bazelisk', 'query cquery aquery info version'),
    ...programNames('tox', '-l -a list config'),
    ...programNames('nx', 'show graph report'),
    ...programNames('cmake', '-L -LA -LH -LAH'),
    ...programNames('ruff', 'rule config linter version'),
    ...programNames('stack', 'ls query path'),
    ...programNames('cabal', 'info path'),
    'git stash list',
    'git submodule status',
    'cargo nextest list',
    'vitest list',
    'ctest -N',
    'nox -l',
    'ninja -t',
    'rake -T',
  ],
  [
    'run',
    `node deno ruby php java tsx ts-node tar unzip gzip gunzip bzip2 bunzip2 xz unxz zstd gpg
     masscan sysbench fio ab wrk hyperfine iperf iperf3 pgbench redis-benchmark`,
    ...programNames('cargo', 'run bench'),
    ...programNames(
      'git',
      'stash bisect apply init lfs mv rm worktree maintenance repack filter-branch',
    ),
    ...programNames('openssl', 's_client s_server verify'),
  ],
  ['anything', 'curl http https jq yq xq xmllint'],
  [
    'file',
    'cat tac head tail sed awk gawk mawk nl bat batcat less more type get-content gc zcat bzcat xzcat view pygmentize glow',
  ],
  [
    'filter',
    'sort uniq tee cut tr rev fold fmt expand pv ts stdbuf perl out-string select-object more.com',
  ],
  [
    'silent',
    `cd pushd popd export unset source . mkdir rm rmdir cp mv touch chmod chown ln set shopt true false : sleep wait echo printf
     pwd test [ [[ read done fi esac for in case local alias trap exit return clear kill pkill git-add umask`,
    ...programNames('git', 'add checkout switch config stash commit fetch restore reset clean'),
  ],
];

/** Returns the names of one program with its subcommands. */
function programNames(program: string, subcommands: string): readonly string[] {
  return subcommands.split(' ').map((sub) => `${program} ${sub}`);
}

const ROLES: ReadonlyMap<string, Role> = new Map(
  TABLE.flatMap(([role, names, ...longer]) =>
    [...names.split(/\s+/), ...longer].map((name) => [name, role] as const),
  ),
);

/**
 * Tasks that report something instead of doing something. A project's own task may print anything.
 */
const ROLE_OF_ARGUMENT: ReadonlyMap<string, Role> = new Map([
  ...'mvn mvnw gradle gradlew sbt lein mix nx turbo lerna rush'
    .split(' ')
    .map((name) => [name, 'other'] as const),
  ...[...SCRIPT_RUNNERS, 'make', 'gmake', 'rake'].map((name) => [name, 'anything'] as const),
]);
/**
 * Words at either end of a task's name that mark it as reporting: `db:list`, `list-users`,
 * `dependencyTree`.
 */
const HAS_ROLE: ReadonlySet<string> = new Set(
  'ls list show help info version versions tree routes status env environment describe stats tasks projects properties dependencies insight'.split(
    ' ',
  ),
);

const HAS_QUERIES_AND_ACTIONS: ReadonlySet<string> = new Set(QUERY_OR_ACTION.split(/\s+/));
/** Words that mark a query. */
const ASKING: ReadonlySet<string> = new Set(
  `ps images inspect top history port diff events get explain api api-resources auth cluster-info config freeze debug index
   search view outdated why which doc query policy depends rdepends deps uses leaves contents specification licenses about output state
   providers graph plan cat is-active is-enabled find tool values template dir cost hash home`.split(
    /\s+/,
  ),
);

/** After the first word of these there are no further tasks, but projects and the like. */
const ONE_TASK: ReadonlySet<string> = new Set(['nx', 'turbo', 'lerna']);

function isReportingTask(task: string): boolean {
  const words = task.split(/[-:_.]|(?<=[a-z])(?=[A-Z])/);
  return [words[0], words.at(-1)].some(
    (word) => word !== undefined && HAS_ROLE.has(word.toLowerCase()),
  );
}

const asks = (word: string): boolean => ASKING.has(word) || isReportingTask(word);

/** Returns the role of a program called with `args`; undefined if unknown. */
export function roleOf(program: string, args: readonly string[]): Role | undefined {
  const [first = '', second = ''] = args.filter((arg) => !arg.startsWith('-'));
  const longer = [`${program} ${first} ${second}`, `${program} ${args[0]}`, `${program} ${first}`];
  const named = longer.find((name) => ROLES.has(name));
  if (named !== undefined) return ROLES.get(named);
  const flag = args.findIndex((arg) => arg.startsWith('-'));
  const words = flag < 0 ? args : args.slice(0, flag);
  const tasks = ONE_TASK.has(program) ? words.slice(0, 1) : words;
  const informative = tasks.some(isReportingTask) ? ROLE_OF_ARGUMENT.get(program) : undefined;
  if (informative !== undefined) return informative;
  const tells = HAS_QUERIES_AND_ACTIONS.has(program) && first !== '' && ![first, second].some(asks);
  return tells ? 'run' : ROLES.get(program);
}

const REPORTERS: ReadonlySet<string> = new Set(REPORTS_ONLY.split(/\s+/));

/** Returns true if the program prints only how its own work went. */
export const reportsOnly = (name: string): boolean => REPORTERS.has(name);
