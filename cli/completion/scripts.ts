/** Completion scripts for shells, generated from the commands' definitions. */
import type { Definition } from 'clipanion';
import { optionNames, pathOf } from '../parse/syntax.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

const ALL = { name: 'all', about: 'Every command, the exit codes and the topics' };

/** What may follow the words of a command: subcommands and options. */
interface Choices {
  /** `''` at the top level, else `config` or `config show`. */
  readonly words: string;
  readonly subcommands: readonly { readonly name: string; readonly about: string }[];
  readonly options: readonly { readonly name: string; readonly about: string }[];
}

/** Returns the script for `shell`; `topics` are the arguments of `svc help` besides commands. */
export function completionScript(
  shell: Shell,
  definitions: readonly Definition[],
  topics: readonly string[],
): string {
  const choices = withHelp(choicesOf(definitions), topics);
  if (shell === 'fish') return fishScript(choices);
  return shell === 'zsh'
    ? `#compdef svc\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(choices)}`
    : bashScript(choices);
}

/** Adds `svc help`, which accepts every top-level word and every topic. */
function withHelp(choices: readonly Choices[], topics: readonly string[]): readonly Choices[] {
  return choices.flatMap((one) => {
    if (one.words !== '') return [one];
    const commands = new Set(one.subcommands.map(({ name }) => name));
    const pages = topics
      .filter((name) => !commands.has(name))
      .map((name) => ({ name, about: 'A page of the documentation' }));
    const help = { name: 'help', about: 'A command or a page of the documentation' };
    return [
      { ...one, subcommands: [...one.subcommands, help] },
      { words: 'help', subcommands: [ALL, ...one.subcommands, ...pages], options: [] },
    ];
  });
}

function choicesOf(definitions: readonly Definition[]): readonly Choices[] {
  const known = new Map(definitions.map((one) => [pathOf(one).join(' '), one]));
  const prefixes = new Set(['']);
  for (const path of known.keys()) {
    const words = path.split(' ');
    words.forEach((_, at) => prefixes.add(words.slice(0, at + 1).join(' ')));
  }
  return [...prefixes].map((words) => {
    const definition = known.get(words);
    const below = [...prefixes].filter(
      (one) => one !== '' && one.split(' ').slice(0, -1).join(' ') === words,
    );
    return {
      words,
      subcommands: below.map((path) => ({
        name: path.split(' ').at(-1) ?? '',
        about: known.get(path)?.description?.trim() ?? '',
      })),
      options: [
        { name: '--help', about: 'What it takes' },
        ...(definition === undefined
          ? []
          : definition.options.flatMap((option) =>
              optionNames({ ...definition, options: [option] }).map((name) => ({
                name,
                about: option.description?.trim() ?? '',
              })),
            )),
      ],
    };
  });
}

/**
 * Returns one `case` over the words so far; anything else completes file names. zsh runs it too:
 * there `words` is predefined, and a name after a colon in `${…}` would be a modifier.
 */
function bashScript(choices: readonly Choices[]): string {
  const cases = choices.map(({ words, subcommands, options }) => {
    const names = [...subcommands, ...options].map(({ name }) => name).join(' ');
    return `    '${words}') choices='${names}' ;;`;
  });
  return `# Completion of svc: eval "$(svc completion bash)"
_svc() {
  local current="\${COMP_WORDS[COMP_CWORD]}" typed='' word choices
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case "$word" in
      -*) ;;
      *) typed="\${typed:+$typed }$word" ;;
    esac
  done
  while :; do
    case "$typed" in
${cases.map((line) => `  ${line}`).join('\n')}
      *' '*) typed="\${typed% *}"; continue ;;
      *) choices='' ;;
    esac
    break
  done
  COMPREPLY=($(compgen -W "$choices" -- "$current"))
}
complete -o default -F _svc svc
`;
}

function fishScript(choices: readonly Choices[]): string {
  const lines = choices.flatMap(({ words, subcommands, options }) => {
    const condition = `'__svc_at "${words}"'`;
    const entry = (kind: string, about: string) =>
      `complete -c svc -n ${condition} ${kind} -d ${quoted(about)}`;
    return [
      ...subcommands.map(({ name, about }) => entry(`-f -a ${name}`, about)),
      ...options.map(({ name, about }) =>
        entry(name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`, about),
      ),
    ];
  });
  return `# Completion of svc: svc completion fish | source
set -g __svc_paths ${choices.flatMap(({ words }) => (words === '' ? [] : [`'${words}'`])).join(' ')}
function __svc_at
  set -l words (string match -v -- '-*' (commandline -opc)[2..-1])
  # What follows the words of a command are its arguments.
  while test (count $words) -gt 1; and not contains -- "$words" $__svc_paths
    set -e words[-1]
  end
  test "$words" = "$argv[1]"
end
${lines.join('\n')}
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;
}
