/**
 * Which calls can be repeated to get their result again: read-only ones. A call that changed a file
 * or anything else must not be made twice, and would not print the same again.
 */
import { programsOf } from '../../../model/classify/command.ts';
import { pipelinesOf } from '../../../model/classify/shell.ts';
import { unwrap } from '../../../model/classify/unwrap.ts';
import { originHints } from '../../pass/block-label.ts';
import type { ConversationBlock } from '../../pass/blocks.ts';
import { isConversationTool } from '../../pass/human-authored.ts';
import { toSnakeCase, isEditorView, isReadOnlyCall } from './file-writes.ts';

/** Words in the names of tools that do more than read: `update_and_get`, `open_pull_request`. */
const SIDE_EFFECT_WORDS =
  /(?:^|_)(?:create|update|delete|remove|write|save|send|submit|publish|merge|click|cancel|execute|replace|edit|insert|append|add|apply)(?:_|$)|^open_(?:pull|issue|pr|merge|ticket)/i;

/** Read-only subcommands of programs for a cluster or a service, by program. */
const READ_ONLY_SUBCOMMANDS: ReadonlyMap<string, RegExp> = new Map([
  [
    'git',
    /^(?:log|show|diff|status|blame|grep|ls-files|ls-tree|cat-file|rev-parse|rev-list|shortlog|describe)$/,
  ],
  ['kubectl', /^(?:get|describe|logs|top|explain|api-resources|version)$/],
  ['docker', /^(?:ps|images|logs|inspect|stats|version|info|history|port|top)$/],
  ['terraform', /^(?:plan|show|validate|output|version|providers)$/],
  ['gh', /^(?:search|status)$/],
]);
/** Runners of scripts, which may do anything: a test, a build, a release. */
const RUNNERS: ReadonlySet<string> = new Set('make cargo go npm npx yarn pnpm'.split(' '));
const CHECKING_SCRIPT =
  /^(?:test|tests|t|check|lint|clippy|vet|build|compile|types|typecheck|type-check|tsc|ls|list|outdated|view|info|why|audit|tree|doc|env|version|format:check|bench)(?:[:.-].*)?$/;
const RUN_VERBS: ReadonlySet<string> = new Set(['run', 'run-script']);
/** Options with which `find` and `sort` act on what they find. */
const ACTING_OPTIONS = /\s-(?:exec|execdir|ok|okdir|delete|fprint\w*)\b/;

/**
 * Returns true for a result whose call may be repeated and gives the same unless something changed.
 */
export function isRepeatable(result: ConversationBlock): boolean {
  const { command, toolName = '' } = originHints(result);
  if (isConversationTool(toolName)) return false;
  if (command === undefined)
    return (
      isReadOnlyCall(result) &&
      (isEditorView(result) || !SIDE_EFFECT_WORDS.test(toSnakeCase(toolName)))
    );
  if (ACTING_OPTIONS.test(command) || programsOf(command).includes('node')) return false;
  return pipelinesOf(command)
    .flat()
    .every(({ words, redirected }) => !redirected && isReadOnlyCommand(result, unwrap(words)));
}

function isReadOnlyCommand(
  result: ConversationBlock,
  [name = '', ...args]: readonly string[],
): boolean {
  const rest = args.filter((arg) => !arg.startsWith('-'));
  const verb = RUN_VERBS.has(rest[0] ?? '') ? rest[1] : rest[0];
  const readOnly = READ_ONLY_SUBCOMMANDS.get(name);
  if (readOnly !== undefined) return readOnly.test(verb ?? '');
  if (RUNNERS.has(name)) return CHECKING_SCRIPT.test(verb ?? '');
  return isReadOnlyCall({ ...result, toolInput: { command: [name, ...args].join(' ') } });
}
