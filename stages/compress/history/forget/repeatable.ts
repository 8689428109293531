/**
 * Which calls can be repeated to get their result again: read-only ones. A call that changed a file
 * or anything else must not be made twice, and would not print the same again.
 */
import { programsOf } from '../../../model/classify/command.ts';
import { pipelinesOf } from '../../../model/classify/shell.ts';
import { unwrap } from '../../../model/classify/unwrap.ts';
import { hintsOf } from '../../pass/block-label.ts';
import type { ConversationBlock } from '../../pass/blocks.ts';
import { isSpoken } from '../../pass/human-authored.ts';
import { inWords, isEditorsView, onlyLooks } from './edited.ts';

/** Words in the names of tools that do more than read: `update_and_get`, `open_pull_request`. */
const DOES =
  /(?:^|_)(?:create|update|delete|remove|write|save|send|submit|publish|merge|click|cancel|execute|replace|edit|insert|append|add|apply)(?:_|$)|^open_(?:pull|issue|pr|merge|ticket)/i;

/** Read-only subcommands of programs for a cluster or a service, by program. */
const LOOKING: ReadonlyMap<string, RegExp> = new Map([
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
const CHECKS =
  /^(?:test|tests|t|check|lint|clippy|vet|build|compile|types|typecheck|type-check|tsc|ls|list|outdated|view|info|why|audit|tree|doc|env|version|format:check|bench)(?:[:.-].*)?$/;
const RUNS: ReadonlySet<string> = new Set(['run', 'run-script']);
/** Options with which `find` and `sort` act on what they find. */
const ACTS = /\s-(?:exec|execdir|ok|okdir|delete|fprint\w*)\b/;

/**
 * Returns true for a result whose call may be repeated and gives the same unless something changed.
 */
export function canBeCalledAgain(result: ConversationBlock): boolean {
  const { command, toolName = '' } = hintsOf(result);
  if (isSpoken(toolName)) return false;
  if (command === undefined)
    return onlyLooks(result) && (isEditorsView(result) || !DOES.test(inWords(toolName)));
  if (ACTS.test(command) || programsOf(command).includes('node')) return false;
  return pipelinesOf(command)
    .flat()
    .every(({ words, redirected }) => !redirected && looks(result, unwrap(words)));
}

function looks(result: ConversationBlock, [name = '', ...args]: readonly string[]): boolean {
  const rest = args.filter((arg) => !arg.startsWith('-'));
  const verb = RUNS.has(rest[0] ?? '') ? rest[1] : rest[0];
  const looking = LOOKING.get(name);
  if (looking !== undefined) return looking.test(verb ?? '');
  if (RUNNERS.has(name)) return CHECKS.test(verb ?? '');
  return onlyLooks({ ...result, toolInput: { command: [name, ...args].join(' ') } });
}
