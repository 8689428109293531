/**
 * Commands that write files without naming them: formatters, fixers, `git checkout`, `sed -i` over
 * a pattern. Written files are known by folder and, for tools of one language, by extension.
 */
import { operandsOf, valued } from '../../../model/classify/flags.ts';
import { pipelinesOf, type SimpleCommand } from '../../../model/classify/shell.ts';
import { unwrap } from '../../../model/classify/unwrap.ts';

/** A folder in which a command may have written files. */
export interface WrittenTree {
  /** As the command names it, without a trailing slash; empty for the working directory. */
  readonly folder: string;
  /** Matches the extensions of the files; absent for any file. */
  readonly endings?: RegExp;
}

/** A program or subcommand that writes files: always, or only with certain arguments. */
interface Writer {
  readonly when?: RegExp;
  readonly unless?: RegExp;
  readonly endings?: RegExp;
}

const PYTHON = /\.(?:pyi?|ipynb)$/;
const WEB = /\.(?:[cm]?[jt]sx?|json[c5]?|s?css|less|html?|vue|svelte|astro|md|mdx|ya?ml|graphql)$/;
const GO = /\.go$/;
const RUST = /\.rs$/;
const RUBY = /\.(?:rb|rake|gemspec)$|^(?:Gemfile|Rakefile)$/;
const TERRAFORM = /\.(?:tf|tfvars|hcl)$/;
const ONLY_LOOKS =
  /(?:^| )(?:--(?:check|diff|dry-run|list|list-different|verify|stat|version|help)|-l)(?: |=|$)/;
const FIX =
  /(?:^| )(?:--(?:fix|write|in-?place|apply|auto-?correct(?:-all)?|autofix|update-all|unsafe-fixes)(?: |=|$)|--replace)/;
const IN_PLACE = /(?:^| )-[A-Za-z]*i(?: |\.|''|$)|--in-place/;
const SHORT_WRITE = /(?:^| )-[a-z]*w(?: |$)/;

const unlessLooking = { unless: ONLY_LOOKS };
const WRITERS: ReadonlyMap<string, Writer> = new Map<string, Writer>(
  (
    [
      ['black blue isort pyupgrade docformatter', { ...unlessLooking, endings: PYTHON }],
      ['ruff:format', { ...unlessLooking, endings: PYTHON }],
      ['autopep8 yapf autoflake', { when: IN_PLACE, endings: PYTHON }],
      ['cargo:fmt cargo:fix rustfmt', { ...unlessLooking, endings: RUST }],
      ['cargo:add cargo:remove cargo:update', { endings: /^Cargo\.(?:toml|lock)$/ }],
      ['gofmt goimports gofumpt gci', { when: SHORT_WRITE, endings: GO }],
      ['go:fmt go:fix go:generate', { endings: GO }],
      ['go:mod go:get', { endings: /^go\.(?:mod|sum)$/ }],
      ['deno:fmt dprint:fmt', { ...unlessLooking, endings: WEB }],
      ['prettier oxfmt biome', { when: /(?:^| )(?:-w|--write|--fix|--apply)/, endings: WEB }],
      ['terraform:fmt tofu:fmt', { unless: /-check|-write=false/, endings: TERRAFORM }],
      ['rubocop standardrb', { when: /(?:^| )(?:-[aAx]|--auto|--fix)/, endings: RUBY }],
      ['clang-format google-java-format', { when: /(?:^| )(?:-i|--replace|--in-place)/ }],
      ['shfmt buf:format', { when: SHORT_WRITE }],
      ['ktlint', { when: /(?:^| )(?:-F|--format)/, endings: /\.kts?$/ }],
      ['ast-grep sg', { when: /(?:^| )(?:-U|--update-all)/ }],
      ['mix:format zig:fmt nix:fmt dart:format dart:fix dotnet:format', unlessLooking],
      ['swiftformat scalafmt taplo:fmt taplo:format php-cs-fixer:fix phpcbf', unlessLooking],
      ['sqlfluff:fix pre-commit:run jscodeshift fastmod codemod', unlessLooking],
      ['sed gsed perl ruby', { when: IN_PLACE }],
      ['git:checkout', { unless: /(?:^| )-[bB] \S+$|--orphan/ }],
      ['git:switch', { unless: /(?:^| )(?:-[cC]|--create|--orphan) \S+$/ }],
      ['git:restore', { unless: /--staged(?!.*--worktree)|(?:^| )-S(?!.*-W)/ }],
      ['git:reset', { when: /--(?:hard|merge|keep)/ }],
      ['git:stash', { unless: /^(?:list|show|drop|clear|branch)/ }],
      ['git:apply', { unless: /--(?:check|stat|numstat|cached)/ }],
      ['git:merge git:rebase git:pull git:cherry-pick git:revert git:am git:clean', {}],
      ['git:mv git:rm', { unless: /--cached/ }],
      ['patch', unlessLooking],
      ['cp rsync', { when: /(?:^| )(?:-\w*[rRa]|--recursive|--archive)/ }],
      ['rm', { when: /(?:^| )(?:-\w*[rR]|--recursive)/ }],
      ['mv unzip', {}],
      ['tar', { when: /^-?\w*x|--extract/ }],
      [
        'npm:install npm:i npm:uninstall npm:update npm:version yarn:add yarn:remove pnpm:add pnpm:remove bun:add',
        {
          endings: /^(?:package(?:-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml)$/,
        },
      ],
    ] as const
  ).flatMap(([names, writer]) => names.split(' ').map((name) => [name, writer] as const)),
);

/** Programs that run a script by name, and the script names that mean writing. */
const RUNNERS: ReadonlySet<string> = new Set(
  'npm yarn pnpm bun make just task poe rake composer mix gradle gradlew mvn mvnw nox tox'.split(
    ' ',
  ),
);
const FIXING_SCRIPT =
  /(?:^|[:_.-])(?:fmt|format|fix|autofix|prettify|codemod|codegen|generate|gen|apply)(?:$|[:_.-])|spotlessApply/;
const CHECKING_SCRIPT = /check|verify|dry/;

/** Git subcommands whose operands are no folders unless they follow `--`. */
const TAKES_REVISIONS =
  /^(?:checkout|switch|reset|stash|merge|rebase|pull|cherry-pick|revert|am|apply)$/;
const GLOB = /[*?[{]/;
const UNKNOWN = /[$`]|\{\}/;
/** A base name with an extension. */
const FILE = /^[^.].*\.[A-Za-z]\w{0,9}$/;
const isFile = (path: string): boolean => FILE.test(path.slice(path.lastIndexOf('/') + 1));
const OF_SCRIPTS = valued('-e -f -l -E -I');
const OF_FORMATTERS = valued('-c -l --line-length --config --target-version --select --ignore -m');
const OF_OTHERS = valued('');
/** A longer command is a document that it writes, e.g. a here-document. In characters. */
const LONGEST = 10_000;
/** Marks a script that walks folders itself. */
const WALKS = /\b(?:rglob|glob|iterdir|os\.walk|readdirSync|readdir|Dir\.glob|filepath\.Walk\w*)\b/;

/** Returns the trees in which a command line may have written files that it does not name. */
export function treesWrittenBy(command: string): readonly WrittenTree[] {
  const read = command.slice(0, LONGEST);
  const trees = pipelinesOf(read).flat().flatMap(writtenByOne);
  const isScript = WALKS.test(read) && /write|sub\(|replace/i.test(read);
  return isScript ? [...trees, { folder: '' }] : trees;
}

function writtenByOne({ words }: SimpleCommand): readonly WrittenTree[] {
  const [name = '', ...args] = unwrap(words);
  if (name === 'find' || name === 'fd') return writtenByFind(args);
  const [verb = ''] = args;
  const byVerb = WRITERS.get(`${name}:${verb}`);
  const writer = byVerb ?? WRITERS.get(name);
  const rest = byVerb === undefined ? args : args.slice(1);
  const said = rest.join(' ');
  if (writer === undefined) {
    const isScript = RUNNERS.has(name) && args.some((arg) => isFixingScript(arg));
    const fixes =
      FIX.test(said) && !ONLY_LOOKS.test(said) && !/^(?:git|gh|docker|kubectl)$/.test(name);
    return isScript || fixes ? toTrees(isScript ? [] : pathsOf(rest), {}) : [];
  }
  if (writer.when?.test(said) === false || writer.unless?.test(said) === true) return [];
  return toTrees(operands(name, verb, rest), writer);
}

function isFixingScript(arg: string): boolean {
  return !arg.startsWith('-') && FIXING_SCRIPT.test(arg) && !CHECKING_SCRIPT.test(arg);
}

/** Returns the operands that may be folders or files; an empty list means the working directory. */
function operands(name: string, verb: string, args: readonly string[]): readonly string[] {
  const dashes = args.indexOf('--');
  if (dashes >= 0) return args.slice(dashes + 1);
  // A package to install, an archive or a patch: the files it writes are listed inside it.
  if (/^(?:patch|tar|unzip|npm|yarn|pnpm|bun|go|cargo)$/.test(name)) return [];
  const isCopying = /^(?:cp|rsync|rm|mv|git)$/.test(name);
  const all = isCopying ? operandsOf(args, OF_OTHERS) : pathsOf(args);
  if (/^(?:g?sed|perl|ruby)$/.test(name)) {
    const hasScript = args.some((arg) => /^-\w*[ef]$|^--expression/.test(arg));
    // On macOS `-i` takes a backup suffix; an empty one means no backup.
    const paths = operandsOf(args, OF_SCRIPTS).filter((word) => word !== '');
    return hasScript ? paths : paths.slice(1);
  }
  if (name === 'git' && TAKES_REVISIONS.test(verb))
    return verb === 'checkout' && all.some((word) => isFile(word) || word === '.')
      ? all.slice(-1)
      : [];
  return all;
}

const pathsOf = (args: readonly string[]): readonly string[] =>
  operandsOf(args, OF_FORMATTERS).filter((word) => !/^(?:check|lint|run|format|fix)$/.test(word));

function toTrees(paths: readonly string[], { endings }: Writer): readonly WrittenTree[] {
  const made = { ...(endings !== undefined && { endings }) };
  if (paths.length === 0) return [{ folder: '', ...made }];
  return paths.flatMap((path) => {
    // A single file is already known by its name.
    if (isFile(path) && !GLOB.test(path) && !UNKNOWN.test(path)) return [];
    return [{ folder: folderOf(path), ...made }];
  });
}

/** Returns the folder of a path or pattern; empty where it cannot be determined. */
function folderOf(path: string): string {
  if (UNKNOWN.test(path)) return '';
  const glob = path.search(GLOB);
  const fixed = glob < 0 ? path : path.slice(0, path.lastIndexOf('/', glob) + 1);
  const folder = fixed.replace(/^(?:\.\/)+/, '').replace(/(?:\/|\/?\.{3})$/, '');
  return folder === '.' || folder.startsWith('..') || folder.startsWith('~') ? '' : folder;
}

function writtenByFind(args: readonly string[]): readonly WrittenTree[] {
  const acts = args.findIndex((arg) =>
    /^(?:-exec(?:dir)?|-ok(?:dir)?|-x|-X|--exec(?:-batch)?)$/.test(arg),
  );
  const inner = args.slice(acts + 1);
  const writes = acts >= 0 && writtenByOne({ words: inner, redirected: false }).length > 0;
  if (!writes && !args.includes('-delete')) return [];
  const from = args.slice(
    0,
    args.findIndex((arg) => arg.startsWith('-')),
  );
  return toTrees(from, {});
}

/** Returns true for a path that may be in the tree; a relative path may be anywhere. */
export function isIn({ folder, endings }: WrittenTree, path: string): boolean {
  if (endings !== undefined && !endings.test(path.slice(path.lastIndexOf('/') + 1))) return false;
  if (folder === '' || !path.startsWith('/')) return true;
  return folder.startsWith('/') ? path.startsWith(`${folder}/`) : path.includes(`/${folder}/`);
}
