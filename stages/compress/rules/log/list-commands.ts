/**
 * Commands that are run for the list that they print: the actions of a dry run, all revisions, all
 * tests, all findings of a linter. Every line of the list was requested, however long it is.
 */
import { programsOf } from '../../../model/classify/command.ts';
import { statesFailure } from './outcome.ts';

/** Longest part of a command that is inspected, in characters. */
const MAX_COMMAND_CHARS = 400;
const DRY_RUN =
  /(?:^|\s)--(?:dry-?run|simulate|what-?if|list\w{0,20})\b|\b(?:rsync|make|gmake)\b[^|;&\n]{0,80} -[A-Za-z]{0,12}n[A-Za-z]{0,12}\b/i;
/** The subcommand after a program and its options. */
const LIST_SUBCOMMAND =
  /(?:^|[\s;&|])[\w./-]{1,60}(?: -{1,2}[\w=./-]{1,40}){0,4} (?:history|list|ls|heads|routes)\b/;

/** Returns true for such a command unless something shows that it failed. */
export function isListRequested(
  call: string | undefined,
  lines: readonly string[],
  isFailed = false,
): boolean {
  if (call === undefined || isFailed) return false;
  const seen = call.slice(0, MAX_COMMAND_CHARS);
  return (DRY_RUN.test(seen) || LIST_SUBCOMMAND.test(seen)) && !statesFailure(lines);
}

/** Linters, type checkers and scanners, which print only findings. */
const FINDERS: ReadonlySet<string> = new Set(
  (
    'tsc vue-tsc svelte-check mypy pyright basedpyright ruff flake8 pylint pyflakes pycodestyle bandit vulture ' +
    'eslint oxlint biome stylelint tslint knip markdownlint markdownlint-cli2 textlint vale cspell codespell ' +
    'rubocop standardrb reek brakeman phpstan psalm phpcs phpmd shellcheck hadolint actionlint yamllint ' +
    'ansible-lint tflint tfsec checkov trivy grype semgrep gitleaks golangci-lint staticcheck revive ktlint ' +
    'detekt swiftlint clang-tidy cppcheck cpplint hlint sqlfluff spectral pip-audit osv-scanner'
  ).split(' '),
);
/** Programs used alongside them in a command that print nothing of their own. */
const SILENT_PROGRAMS: ReadonlySet<string> = new Set(
  'cd head tail cat tee sort uniq grep rg export true'.split(' '),
);
/** Finders that are subcommands of another program, and package scripts by their usual names. */
const FINDER_SUBCOMMAND =
  /^(?:cd [^\s;&|]{1,200} ?(?:&&|;) ?)?(?:(?:npm|pnpm|yarn|composer|cargo) audit|cargo (?:clippy|deny)|go vet|(?:terraform|tofu) validate|deno (?:lint|check)|mix (?:credo|dialyzer)|(?:npm|pnpm|yarn|bun)(?: run)? [\w:-]{0,20}(?:lint|type-?check|check-?types|tsc)[\w:-]{0,20})(?![^;&|]*(?:&&|;|\|\|))/;

/** Returns true for a command that prints faults in files, and nothing else. */
export function printsFindings(call: string | undefined): boolean {
  if (call === undefined) return false;
  if (FINDER_SUBCOMMAND.test(call.slice(0, MAX_COMMAND_CHARS))) return true;
  const programs = programsOf(call);
  return (
    programs.some((name) => FINDERS.has(name)) &&
    programs.every((name) => FINDERS.has(name) || SILENT_PROGRAMS.has(name))
  );
}
