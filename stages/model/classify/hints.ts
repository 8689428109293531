/**
 * What a tool's name and input say about its output. A hint is only a prior: the text's own shape
 * must agree with it, or a `cat` of a log would be taken for code.
 */
import type { TextClass } from './classes.ts';
import { printedBy, programsOf } from './command.ts';
import { reportsOnly } from './programs.ts';

/** The origin of a text, as far as known. */
export interface ClassifyHints {
  readonly toolName?: string;
  /** The shell command that printed the text. */
  readonly command?: string;
  /** The file that the text was read from. */
  readonly path?: string;
  /**
   * What the call itself asks for in words: the query of a search, or what to find in a fetched
   * page.
   */
  readonly query?: string;
  /** True if the client itself reports that the call failed. */
  readonly failed?: boolean;
}

/** What the hints expect: a class, and for code its file extension. */
export interface Expectation {
  readonly kind?: TextClass;
  readonly extension?: string;
  /** True if the program that ran is known, which is more reliable than a tool's name. */
  readonly certain?: boolean;
  /** True if a program ran that reports on its own work and prints nothing else. */
  readonly report?: boolean;
  /** True if a program ran whose output is unknown. */
  readonly ran?: boolean;
  /** True if files were shown as they are. */
  readonly file?: boolean;
}

const BY_EXTENSION: readonly (readonly [TextClass, string])[] = [
  [
    'code',
    'py pyi js jsx mjs cjs ts tsx mts cts go rs java kt swift c h cc cpp cxx hpp hh cs rb php sh bash zsh ps1 css scss less sql lua pl r scala dart ex exs clj cljs hs ml mli vue svelte gyp gypi pm pl6 pyx pxd cmake mk vim el lisp scm nix tf hcl proto graphql asm s f90 jl zig nim v sv vhd tcl awk m4 ac am gradle groovy kts fish bat cmd makefile gnumakefile cmakelists.txt jenkinsfile rakefile gemfile vagrantfile tex bib feature',
  ],
  [
    'config',
    'json5 jsonc yaml yml toml ini cfg conf env properties editorconfig npmrc gitignore dockerignore gitattributes gitmodules dockerfile containerfile service timer desktop requirements.txt constraints.txt codeowners hosts fstab crontab procfile lock cnf hocon ron kdl jsonnet socket target mount automount path slice network netdev link rules sources gitconfig sshd_config ssh_config sudoers exports passwd htaccess caddyfile pipfile pylintrc coveragerc flake8 yarnrc prettierrc eslintrc babelrc stylelintrc curlrc wgetrc inputrc screenrc dircolors nanorc tool-versions go.mod go.work mailmap xcconfig hwdb zone cabal eslintignore prettierignore npmignore helmignore',
  ],
  ['json', 'json jsonl ndjson map webmanifest'],
  ['narrative', 'md markdown mdx rst adoc'],
  ['log', 'log out'],
  ['diff', 'diff patch'],
  ['html', 'html htm xhtml svg xml'],
  ['other', 'csv tsv psv srt vtt'],
];

const CLASS_OF_EXTENSION: ReadonlyMap<string, TextClass> = new Map(
  BY_EXTENSION.flatMap(([kind, names]) => names.split(' ').map((name) => [name, kind] as const)),
);

/** Meaning of the words in a tool's name, after the server's prefix: `mcp__repo__grep_search`. */
const BY_TOOL: readonly (readonly [TextClass, RegExp])[] = [
  [
    'grep',
    /(?:^|_)(?:grep|ripgrep|rg)(?:_|$)|^search$|(?:^|_)(?:search|find)_(?:files?|dir|code|codebase|text|content|pattern|in|for)(?:_|$)|(?:code|codebase|file|text)_search(?:_|$)/,
  ],
  [
    'listing',
    /^(?:glob|ls|dir|tree)(?:_|$)|(?:^|_)list_(?:dirs?|files?|director(?:y|ies)|folders?)(?:_|$)|^find_(?:files?|by_name)$|director(?:y|ies)_(?:tree|list\w*)$|^file_glob/,
  ],
];

/** Returns what the tool and its input suggest, before the text is looked at. */
export function expectFrom(hints: ClassifyHints): Expectation {
  if (hints.path !== undefined) return fromPath(hints.path);
  if (hints.command !== undefined) {
    const { kind, files, mixed, ran } = printedBy(hints.command);
    if (files !== undefined) return mixed === true ? { file: true } : fromFiles(files);
    if (ran === true) return { ran };
    if (kind !== 'log') return kind === undefined ? {} : { kind, certain: true };
    return { kind, certain: true, report: programsOf(hints.command).some(reportsOnly) };
  }
  const name = toolWords(hints.toolName ?? '');
  const tool = BY_TOOL.find(([, pattern]) => pattern.test(name));
  return tool === undefined ? {} : { kind: tool[0] };
}

/** Returns a tool's own name in lower case, its words joined by `_`. */
function toolWords(toolName: string): string {
  const own = toolName.slice(0, 100).replace(/^.*(?:__|[.:/])(?=\w)/, '');
  return own.replaceAll(/(?<=[a-z\d])(?=[A-Z])|[\s-]+/g, '_').toLowerCase();
}

function fromPath(path: string): Expectation {
  const expected = fromFiles([path]);
  // Tools whose `path` is not a file pass one without a dot: `/v1/users`.
  return { ...expected, file: expected.kind !== undefined || /\.[^/\\]*$/.test(path) };
}

/** Returns the class that all files share, and their extension if they share that too. */
function fromFiles(files: readonly string[]): Expectation {
  const extensions = new Set(files.map(extensionOf));
  const kinds = new Set([...extensions].map((extension) => CLASS_OF_EXTENSION.get(extension)));
  const [kind] = kinds;
  if (kinds.size !== 1 || kind === undefined) return { file: true };
  const [extension] = extensions;
  return extensions.size === 1 && extension !== undefined
    ? { kind, extension, file: true }
    : { kind, file: true };
}

function extensionOf(path: string): string {
  const name = path
    .slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
    .toLowerCase();
  const isSetting = SETTINGS_FOLDER.test(path);
  if (isSetting && !name.includes('.')) return 'conf';
  if (CLASS_OF_EXTENSION.has(name)) return name;
  const bare = name.replace(/^\./, '');
  if (CLASS_OF_EXTENSION.has(bare)) return bare;
  if (/(?:^|[-_.])(?:requirements|constraints)[\w.-]{0,40}\.(?:txt|in)$/.test(name))
    return 'requirements.txt';
  if (/^(?:docker|container)file[.-]|\.(?:docker|container)file$/.test(name)) return 'dockerfile';
  if (/^\.env(?:\.|$)/.test(name)) return 'env';
  const plain = name.replace(COPY, '');
  const dot = plain.lastIndexOf('.');
  const extension = dot < 0 ? plain : plain.slice(dot + 1);
  return CLASS_OF_EXTENSION.has(extension) || !isSetting ? extension : 'conf';
}

/** Suffixes of a file that serves as a template or a backup. */
const COPY =
  /(?<=\w)(?:[.-](?:example|sample|template|tmpl|tpl|dist|default|defaults|bak|orig|old|development|production|dpkg-dist|dpkg-old|in|j2)){1,3}$/;
/**
 * Folders that contain only settings, whatever the files are called, and files identified by their
 * location.
 */
const SETTINGS_FOLDER =
  /(?:^|\/)etc\/(?!(?:init|rc\d?|rcS|update-motd|profile)\.d\/|cron\.(?:daily|hourly|weekly|monthly)\/|profile$|skel\/)|(?:^|\/)(?:\.(?:ssh|aws|kube|git|gnupg)\/(?:config|credentials)|sites-(?:available|enabled)\/[^/]+)$/;
