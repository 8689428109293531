/**
 * What programs print, by name. A name may be two words, `git diff`: then it is the
 * program's first argument that decides, and the plain name stands for all others.
 */
import type { TextClass } from './classes.ts';

/**
 * The part a program has in what is seen: it prints text of a class, shows files as they
 * are, passes on what it is fed, or prints nothing to speak of.
 */
export type Role = TextClass | 'file' | 'filter' | 'silent';

/** Programs whose argument is mostly a script of the project. */
const SCRIPT_RUNNERS = ['npm', 'pnpm', 'yarn', 'bun'];
const ASKED_OF_RUNNERS =
  'ls list ll la view info show outdated config version -v --version help why explain search ping root prefix bin whoami owner access dist-tag repo docs bugs fund query pkg get licenses';

/** One row a role: names of one word split by blanks, names of two words on their own. */
const TABLE: readonly (readonly [Role, string, ...(readonly string[])])[] = [
  [
    'log',
    `pytest py.test unittest nose2 nosetests tox nox jest vitest mocha ava cypress playwright karma runtests run_tests run-tests
     phpunit rspec minitest ctest gotestsum npm pnpm yarn bun cargo make gmake cmake ninja meson bazel bazelisk buck gradle gradlew
     mvn mvnw ant sbt lein mix rake xcodebuild msbuild rustc gcc g++ cc c++ clang clang++ javac kotlinc scalac ghc stack cabal tsc vue-tsc
     eslint oxlint biome ruff mypy pyright flake8 pylint black isort prettier stylelint golangci-lint rubocop clippy-driver
     shellcheck hadolint webpack vite rollup esbuild turbo nx lerna rush next nuxt pre-commit journalctl dmesg configure autoreconf`,
    ...pairs('docker', 'build buildx logs pull push run start up'),
    ...pairs('podman', 'build logs pull push run start'),
    ...pairs('docker-compose', 'up build logs pull push run start stop down restart'),
    ...pairs('kubectl', 'logs'),
    ...pairs('go', 'test build vet install get mod generate run'),
    ...pairs('pip', 'install download wheel uninstall'),
    ...pairs('uv', 'sync add remove lock build pip'),
    ...pairs('poetry', 'install add update lock build remove'),
    ...pairs('conda', 'install create update remove'),
    ...pairs('apt', 'install update upgrade remove full-upgrade dist-upgrade build-dep'),
    ...pairs('apk', 'add update upgrade del'),
    ...pairs('yum', 'install update upgrade'),
    ...pairs('dnf', 'install update upgrade'),
    ...pairs('brew', 'install update upgrade'),
    ...pairs('gem', 'install update'),
    ...pairs('bundle', 'install update'),
    ...pairs('composer', 'install update require'),
    ...pairs('dotnet', 'build test restore run publish'),
    ...pairs('swift', 'build test run'),
    ...pairs('terraform', 'init apply destroy'),
    ...pairs('manage', 'test migrate'),
  ],
  [
    'diff',
    'diff colordiff interdiff wdiff',
    ...pairs('git', 'diff show format-patch'),
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
    'tar -tf',
    'tar tf',
    'unzip -l',
  ],
  [
    'other',
    `git svn hg docker podman docker-compose kubectl helm oc aws gcloud az gh glab terraform tofu pulumi pip uv poetry conda mamba apt apk yum dnf brew
     gem bundle composer dotnet swift go dpkg dpkg-query rpm snap flatpak apt-cache systemctl service launchctl loginctl timedatectl hostnamectl
     ps top htop pgrep jobs lsof fuser netstat ss ip ifconfig route arp iptables nft nmap dig host nslookup whois df free vmstat iostat
     lsblk blkid mount lscpu lspci lsusb lsmod uname uptime who w last id groups getent env printenv set locale ulimit crontab at
     wc stat file md5sum sha1sum sha256sum sha512sum cksum b2sum xxd hexdump od strings nm objdump readelf ldd size
     psql mysql mariadb sqlite3 sqlite duckdb clickhouse-client sqlcmd bq mongo mongosh redis-cli
     man info help tldr column csvlook xsv qsv mlr csvcut csvsql tasklist get-process get-service ollama openssl gpg ssh-keygen keytool
     comm cmp rustup nvm pyenv asdf mise volta update-alternatives alternatives tmux screen zpool zfs kafka-topics etcdctl consul vault nomad`,
    'tar -tvf',
    'tar tvf',
    ...SCRIPT_RUNNERS.flatMap((name) => pairs(name, ASKED_OF_RUNNERS)),
    ...pairs(
      'cargo',
      'tree metadata search info version --version --list help locate-project pkgid config',
    ),
    ...pairs('tsc', '--showConfig --listFiles --listFilesOnly --version --help'),
    'uv tree',
    'composer show',
  ],
  [
    'file',
    'cat tac head tail sed awk gawk mawk nl bat batcat less more type get-content gc zcat view pygmentize glow',
  ],
  [
    'filter',
    'sort uniq tee cut tr rev fold fmt expand pv ts stdbuf perl out-string select-object more.com',
  ],
  [
    'silent',
    `cd pushd popd export unset source . mkdir rm rmdir cp mv touch chmod chown ln set shopt true false : sleep wait echo printf
     pwd test [ [[ read done fi esac for in case local alias trap exit return clear kill pkill git-add umask`,
    ...pairs('git', 'add checkout switch config stash commit fetch restore reset clean'),
  ],
];

/** Two-word names of one program. */
function pairs(program: string, subcommands: string): readonly string[] {
  return subcommands.split(' ').map((sub) => `${program} ${sub}`);
}

const ROLES: ReadonlyMap<string, Role> = new Map(
  TABLE.flatMap(([role, names, ...longer]) =>
    [...names.split(/\s+/), ...longer].map((name) => [name, role] as const),
  ),
);

/** The role of a program called with `args`; undefined where it is not known. */
export function roleOf(program: string, args: readonly string[]): Role | undefined {
  const first = args[0] ?? '';
  const sub = args.find((arg) => !arg.startsWith('-')) ?? '';
  return ROLES.get(`${program} ${first}`) ?? ROLES.get(`${program} ${sub}`) ?? ROLES.get(program);
}
