/**
 * Extracts the person's question from a user message. Agents wrap the user's words, add reminders
 * and editor state around them, and send turns that ask nothing; searching for any of that finds
 * irrelevant files.
 */
import { ADDED_MARK } from './injection.ts';

/**
 * Characters read at the start and the end of a long text: people ask before or after what they
 * paste.
 */
const START_CHARS = 500;
const TAIL_CHARS = 1500;
/** Longer texts are cut before they are searched for sections. */
const MAX_SCANNED_CHARS = 200_000;

/**
 * Sections in which clients pass the user's own words (Cursor, Copilot, Cline, Roo, Claude Code).
 */
const USER_SECTIONS = [
  'user_query',
  'userRequest',
  'user_message',
  'task',
  'feedback',
  'command-args',
];

/** Sections that clients add themselves (the same, and Codex). */
const CLIENT_SECTIONS = [
  'system-reminder',
  'environment_context',
  'environment_details',
  'environment_info',
  'user_instructions',
  'INSTRUCTIONS',
  'turn_aborted',
  'ide_opened_file',
  'ide_selection',
  'ide_diagnostics',
  'command-name',
  'command-message',
  'local-command-caveat',
  'local-command-stdout',
  'local-command-stderr',
  'bash-stdout',
  'bash-stderr',
  'additional_data',
  'user_info',
  'user_rules',
  'rules',
  'project_layout',
  'git_status',
  'open_and_recently_viewed_files',
  'attached_files',
  'attachments',
  'editorContext',
  'reminderInstructions',
  'workspace_info',
];

/** First line of a tool result in Cline and its forks. */
const TOOL_OUTPUT = /^\[\w{1,60}(?: for [^\n]{0,500})?\] Result:/;

/** Words of a turn that only tells the agent to go on. */
const STEERING_WORDS = new Set(
  (
    'a again ahead alright and all carry continue cool do done fine fix go good great hello hey hi ' +
    'it keep just let like looks me more next nice no nope now ok okay on please proceed ready resume ' +
    'retry right run sounds start stop sure thank thanks that the then this try up very well wait ' +
    "yeah yep yes you let's that's"
  ).split(' '),
);
const MAX_STEERING_WORDS = 6;

/**
 * Returns the query for the texts of one user message, or undefined if they ask nothing, or contain
 * the addition of another svc instance, which has searched already.
 */
export function queryOf(texts: readonly string[]): string | undefined {
  if (texts.some((text) => text.includes(ADDED_MARK))) return undefined;
  const sections = texts.map((text) => sectionsOf(searchedPart(text)));
  const own = sections.flatMap((each) => each.userWords).map((text) => text.trim());
  const rest = sections.map((each) => each.rest.trim());
  // Agents that describe their tools in the prompt send tool output as the user's text.
  const answersCall = texts.some((text) => TOOL_OUTPUT.test(text));
  const query = [...(answersCall ? [] : rest), ...own].filter((text) => text !== '').join('\n');
  if (!/[\p{L}\p{N}]/u.test(query) || isSteering(query)) return undefined;
  if (query.length <= START_CHARS + TAIL_CHARS) return query;
  return `${query.slice(0, START_CHARS)}\n${query.slice(-TAIL_CHARS)}`;
}

function searchedPart(text: string): string {
  if (text.length <= MAX_SCANNED_CHARS) return text;
  return `${text.slice(0, START_CHARS)}\n${text.slice(-MAX_SCANNED_CHARS)}`;
}

function isSteering(text: string): boolean {
  if (text.length > 100) return false;
  const words = text.toLowerCase().match(/[\p{L}\p{N}_']+/gu) ?? [];
  return words.length <= MAX_STEERING_WORDS && words.every((word) => STEERING_WORDS.has(word));
}

interface Sections {
  /** Contents of the sections with the user's own words. */
  readonly userWords: readonly string[];
  /** Text outside of all known sections. */
  readonly rest: string;
}

// The length limit keeps the search linear for unterminated opening tags.
const OPENING = new RegExp(
  `<(${[...USER_SECTIONS, ...CLIENT_SECTIONS].join('|')})(?:\\s[^<>]{0,200})?>`,
  'g',
);

function sectionsOf(text: string): Sections {
  const userWords: string[] = [];
  const rest: string[] = [];
  const unclosed = new Set<string>();
  let from = 0;
  for (const match of text.matchAll(OPENING)) {
    const name = match[1]!;
    if (match.index < from || unclosed.has(name)) continue;
    const start = match.index + match[0].length;
    const end = text.indexOf(`</${name}>`, start);
    if (end < 0) {
      unclosed.add(name);
      continue;
    }
    rest.push(text.slice(from, match.index));
    // A section of the user's words may be nested in a section of the client's, never the reverse.
    const inside = text.slice(start, end);
    if (USER_SECTIONS.includes(name)) userWords.push(sectionsOf(inside).rest);
    else userWords.push(...sectionsOf(inside).userWords);
    from = end + name.length + 3;
  }
  rest.push(text.slice(from));
  return { userWords, rest: rest.join('').replace(/^# AGENTS\.md instructions.*$/gm, '') };
}
