/**
 * Commands that were run for the list that they print: what a dry run would do, every revision, every
 * test, each finding of a linter. Each of its lines is what was asked for, however long it is.
 */
import { programsOf } from '../../../model/classify/command.ts';
import { statesFailure } from './outcome.ts';

/** So much of a command is looked at, in characters. */
const SEEN = 400;
const DRY_RUN =
  /(?:^|\s)--(?:dry-?run|simulate|what-?if|list\w{0,20})\b|\b(?:rsync|make|gmake)\b[^|;&\n]{0,80} -[A-Za-z]{0,12}n[A-Za-z]{0,12}\b/i;
/** The verb behind a program and its options. */
const LISTS =
  /(?:^|[\s;&|])[\w./-]{1,60}(?: -{1,2}[\w=./-]{1,40}){0,4} (?:history|list|ls|heads|routes)\b/;

/** True where nothing says that such a command failed. */
export function isListAskedFor(
  call: string | undefined,
  lines: readonly string[],
  isFailed = false,
): boolean {
  if (call === undefined || isFailed) return false;
  const seen = call.slice(0, SEEN);
  return (DRY_RUN.test(seen) || LISTS.test(seen)) && !statesFailure(lines);
}

/** Linters, type checkers and scanners: what they print is what they found. */
const FINDERS: ReadonlySet<string> = new Set(
  (
    'tsc vue-tsc svelte-check mypy pyright basedpyright ruff flake8 pylint pyflakes pycodestyle bandit vulture ' +
    'eslint oxlint biome stylelint tslint knip markdownlint markdownlint-cli2 textlint vale cspell codespell ' +
    'rubocop standardrb reek brakeman phpstan psalm phpcs phpmd shellcheck hadolint actionlint yamllint ' +
    'ansible-lint tflint tfsec checkov trivy grype semgrep gitleaks golangci-lint staticcheck revive ktlint ' +
    'detekt swiftlint clang-tidy cppcheck cpplint hlint sqlfluff spectral pip-audit osv-scanner'
  ).split(' '),
);
/** What stands beside them in a command and prints nothing of its own. */
const BESIDE: ReadonlySet<string> = new Set(
  'cd head tail cat tee sort uniq grep rg export true'.split(' '),
);
/** Those that are a verb of another program, and scripts of a package by their usual names. */
const FINDS =
  /^(?:cd [^\s;&|]{1,200} ?(?:&&|;) ?)?(?:(?:npm|pnpm|yarn|composer|cargo) audit|cargo (?:clippy|deny)|go vet|(?:terraform|tofu) validate|deno (?:lint|check)|mix (?:credo|dialyzer)|(?:npm|pnpm|yarn|bun)(?: run)? [\w:-]{0,20}(?:lint|type-?check|check-?types|tsc)[\w:-]{0,20})(?![^;&|]*(?:&&|;|\|\|))/;

/** True for a command that prints what is wrong with files, and nothing else. */
export function isFindings(call: string | undefined): boolean {
  if (call === undefined) return false;
  if (FINDS.test(call.slice(0, SEEN))) return true;
  const programs = programsOf(call);
  return (
    programs.some((name) => FINDERS.has(name)) &&
    programs.every((name) => FINDERS.has(name) || BESIDE.has(name))
  );
}
