/**
 * Commands that write files without naming them: formatters, fixers, `git checkout`, `sed -i` over
 * a pattern. Written files are known by folder and, for tools of one language, by extension.
 */
import { operandsOf, valueFlags } from '../../../model/classify/flags.ts';
import { pipelinesOf, type SimpleCommand } from '../../../model/classify/shell.ts';
import { unwrap } from '../../../model/classify/unwrap.ts';

/** A folder in which a command may have written files. */
export interface WrittenTree {
  /** As the command names it, without a trailing slash; empty for the working directory. */
  readonly folder: string;
  /** Matches the extensions of the files; absent for any file. */
  readonly extensions?: RegExp;
}

/** A program or subcommand that writes files: always, or only with certain arguments. */
interface Writer {
  readonly onlyWith?: RegExp;
  readonly exceptWith?: RegExp;
  readonly extensions?: RegExp;
}

const PYTHON = /\.(?:pyi?|ipynb)$/;
const WEB = /\.(?:[cm]?[jt]sx?|json[c5]?|s?css|less|html?|vue|svelte|astro|md|mdx|ya?ml|graphql)$/;
const GO = /\.go$/;
const RUST = /\.rs$/;
const RUBY = /\.(?:rb|rake|gemspec)$|^(?:Gemfile|Rakefile)$/;
const TERRAFORM = /\.(?:tf|tfvars|hcl)$/;
const CHECK_OPTIONS =
  /(?:^| )(?:--(?:check|diff|dry-run|list|list-different|verify|stat|version|help)|-l)(?: |=|$)/;
const FIX_OPTIONS =
  /(?:^| )(?:--(?:fix|write|in-?place|apply|auto-?correct(?:-all)?|autofix|update-all|unsafe-fixes)(?: |=|$)|--replace)/;
const IN_PLACE = /(?:^| )-[A-Za-z]*i(?: |\.|''|$)|--in-place/;
const SHORT_WRITE = /(?:^| )-[a-z]*w(?: |$)/;

const unlessChecking = { exceptWith: CHECK_OPTIONS };
const WRITERS: ReadonlyMap<string, Writer> = new Map<string, Writer>(
  (
    [
      ['black blue isort pyupgrade docformatter', { ...unlessChecking, extensions: PYTHON }],
      ['ruff:format', { ...unlessChecking, extensions: PYTHON }],
      ['autopep8 yapf autoflake', { onlyWith: IN_PLACE, extensions: PYTHON }],
      ['cargo:fmt cargo:fix rustfmt', { ...unlessChecking, extensions: RUST }],
      ['cargo:add cargo:remove cargo:update', { extensions: /^Cargo\.(?:toml|lock)$/ }],
      ['gofmt goimports gofumpt gci', { onlyWith: SHORT_WRITE, extensions: GO }],
      ['go:fmt go:fix go:generate', { extensions: GO }],
      ['go:mod go:get', { extensions: /^go\.(?:mod|sum)$/ }],
      ['deno:fmt dprint:fmt', { ...unlessChecking, extensions: WEB }],
      [
        'prettier oxfmt biome',
        { onlyWith: /(?:^| )(?:-w|--write|--fix|--apply)/, extensions: WEB },
      ],
      ['terraform:fmt tofu:fmt', { exceptWith: /-check|-write=false/, extensions: TERRAFORM }],
      ['rubocop standardrb', { onlyWith: /(?:^| )(?:-[aAx]|--auto|--fix)/, extensions: RUBY }],
      ['clang-format google-java-format', { onlyWith: /(?:^| )(?:-i|--replace|--in-place)/ }],
      ['shfmt buf:format', { onlyWith: SHORT_WRITE }],
      ['ktlint', { onlyWith: /(?:^| )(?:-F|--format)/, extensions: /\.kts?$/ }],
      ['ast-grep sg', { onlyWith: /(?:^| )(?:-U|--update-all)/ }],
      ['mix:format zig:fmt nix:fmt dart:format dart:fix dotnet:format', unlessChecking],
      ['swiftformat scalafmt taplo:fmt taplo:format php-cs-fixer:fix phpcbf', unlessChecking],
      ['sqlfluff:fix pre-commit:run jscodeshift fastmod codemod', unlessChecking],
      ['sed gsed perl ruby', { onlyWith: IN_PLACE }],
      ['git:checkout', { exceptWith: /(?:^| )-[bB] \S+$|--orphan/ }],
      ['git:switch', { exceptWith: /(?:^| )(?:-[cC]|--create|--orphan) \S+$/ }],
      ['git:restore', { exceptWith: /--staged(?!.*--worktree)|(?:^| )-S(?!.*-W)/ }],
      ['git:reset', { onlyWith: /--(?:hard|merge|keep)/ }],
      ['git:stash', { exceptWith: /^(?:list|show|drop|clear|branch)/ }],
      ['git:apply', { exceptWith: /--(?:check|stat|numstat|cached)/ }],
      ['git:merge git:rebase git:pull git:cherry-pick git:revert git:am git:clean', {}],
      ['git:mv git:rm', { exceptWith: /--cached/ }],
      ['patch', unlessChecking],
      ['cp rsync', { onlyWith: /(?:^| )(?:-\w*[rRa]|--recursive|--archive)/ }],
      ['rm', { onlyWith: /(?:^| )(?:-\w*[rR]|--recursive)/ }],
      ['mv unzip', {}],
      ['tar', { onlyWith: /^-?\w*x|--extract/ }],
      [
        'npm:install npm:i npm:uninstall npm:update npm:version yarn:add yarn:remove pnpm:add pnpm:remove bun:add',
        {
          extensions:
            /^(?:package(?:-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml)$/,
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

/** Git subcommands whose operands are not folders unless they follow `--`. */
const TAKES_REVISIONS =
  /^(?:checkout|switch|reset|stash|merge|rebase|pull|cherry-pick|revert|am|apply)$/;
const GLOB = /[*?[{]/;
const SUBSTITUTION = /[$`]|\{\}/;
/** A base name with an extension. */
const BASE_NAME_WITH_EXTENSION = /^[^.].*\.[A-Za-z]\w{0,9}$/;
const isFile = (path: string): boolean =>
  BASE_NAME_WITH_EXTENSION.test(path.slice(path.lastIndexOf('/') + 1));
const SCRIPT_VALUES = valueFlags('-e -f -l -E -I');
const FORMATTER_VALUES = valueFlags(
  '-c -l --line-length --config --target-version --select --ignore -m',
);
const NO_VALUES = valueFlags('');
/** A longer command is a document that it writes, e.g. a here-document. In characters. */
const MAX_COMMAND_CHARS = 10_000;
/** Marks a script that walks folders itself. */
const FOLDER_WALK =
  /\b(?:rglob|glob|iterdir|os\.walk|readdirSync|readdir|Dir\.glob|filepath\.Walk\w*)\b/;

/** Returns the trees in which a command line may have written files that it does not name. */
export function treesWrittenBy(command: string): readonly WrittenTree[] {
  const start = command.slice(0, MAX_COMMAND_CHARS);
  const trees = pipelinesOf(start).flat().flatMap(writtenByOne);
  const isScript = FOLDER_WALK.test(start) && /write|sub\(|replace/i.test(start);
  return isScript ? [...trees, { folder: '' }] : trees;
}

function writtenByOne({ words }: SimpleCommand): readonly WrittenTree[] {
  const [name = '', ...args] = unwrap(words);
  if (name === 'find' || name === 'fd') return writtenByFind(args);
  const [verb = ''] = args;
  const byVerb = WRITERS.get(`${name}:${verb}`);
  const writer = byVerb ?? WRITERS.get(name);
  const rest = byVerb === undefined ? args : args.slice(1);
  const argumentText = rest.join(' ');
  if (writer === undefined) {
    const isScript = RUNNERS.has(name) && args.some((arg) => isFixingScript(arg));
    const fixes =
      FIX_OPTIONS.test(argumentText) &&
      !CHECK_OPTIONS.test(argumentText) &&
      !/^(?:git|gh|docker|kubectl)$/.test(name);
    return isScript || fixes ? toTrees(isScript ? [] : pathsOf(rest), {}) : [];
  }
  if (
    writer.onlyWith?.test(argumentText) === false ||
    writer.exceptWith?.test(argumentText) === true
  )
    return [];
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
  const all = isCopying ? operandsOf(args, NO_VALUES) : pathsOf(args);
  if (/^(?:g?sed|perl|ruby)$/.test(name)) {
    const hasScript = args.some((arg) => /^-\w*[ef]$|^--expression/.test(arg));
    // On macOS `-i` takes a backup suffix; an empty one means no backup.
    const paths = operandsOf(args, SCRIPT_VALUES).filter((word) => word !== '');
    return hasScript ? paths : paths.slice(1);
  }
  if (name === 'git' && TAKES_REVISIONS.test(verb))
    return verb === 'checkout' && all.some((word) => isFile(word) || word === '.')
      ? all.slice(-1)
      : [];
  return all;
}

const pathsOf = (args: readonly string[]): readonly string[] =>
  operandsOf(args, FORMATTER_VALUES).filter(
    (word) => !/^(?:check|lint|run|format|fix)$/.test(word),
  );

function toTrees(paths: readonly string[], { extensions }: Writer): readonly WrittenTree[] {
  const restriction = { ...(extensions !== undefined && { extensions }) };
  if (paths.length === 0) return [{ folder: '', ...restriction }];
  return paths.flatMap((path) => {
    // A single file is already known by its name.
    if (isFile(path) && !GLOB.test(path) && !SUBSTITUTION.test(path)) return [];
    return [{ folder: folderOf(path), ...restriction }];
  });
}

/** Returns the folder of a path or pattern; empty if it cannot be determined. */
function folderOf(path: string): string {
  if (SUBSTITUTION.test(path)) return '';
  const glob = path.search(GLOB);
  const fixed = glob < 0 ? path : path.slice(0, path.lastIndexOf('/', glob) + 1);
  const folder = fixed.replace(/^(?:\.\/)+/, '').replace(/(?:\/|\/?\.{3})$/, '');
  return folder === '.' || folder.startsWith('..') || folder.startsWith('~') ? '' : folder;
}

function writtenByFind(args: readonly string[]): readonly WrittenTree[] {
  const actionAt = args.findIndex((arg) =>
    /^(?:-exec(?:dir)?|-ok(?:dir)?|-x|-X|--exec(?:-batch)?)$/.test(arg),
  );
  const inner = args.slice(actionAt + 1);
  const writes = actionAt >= 0 && writtenByOne({ words: inner, redirected: false }).length > 0;
  if (!writes && !args.includes('-delete')) return [];
  const from = args.slice(
    0,
    args.findIndex((arg) => arg.startsWith('-')),
  );
  return toTrees(from, {});
}

/** Returns true for a path that may be in the tree; a relative path may be anywhere. */
export function mayBeIn({ folder, extensions }: WrittenTree, path: string): boolean {
  if (extensions !== undefined && !extensions.test(path.slice(path.lastIndexOf('/') + 1)))
    return false;
  if (folder === '' || !path.startsWith('/')) return true;
  return folder.startsWith('/') ? path.startsWith(`${folder}/`) : path.includes(`/${folder}/`);
}
