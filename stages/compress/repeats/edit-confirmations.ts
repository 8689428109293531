/**
 * A client's confirmation of an edit: that it was made, and what the editor now finds wrong in the
 * file. It answers that one call, even if it reads like an earlier one, so no reference ever
 * replaces it.
 */
import type { ConversationBlock } from '../pass/blocks.ts';

/** Longest part of a line that is inspected, in characters. */
const MAX_LINE_CHARS = 300;

/**
 * How agents word that a file was written: Claude Code, Codex, Cline, opencode, Gemini CLI, Cursor,
 * aider and others.
 */
const CONFIRMATION =
  /^(?:\W{0,3})(?:the |your |these |all )?(?:following )?(?:success(?:fully)?\b|done\b|files?\b|content\b|contents\b|updated content\b|edits?\b|edited\b|changes?\b|applied\b|applying\b|replacements?\b|replaced\b|occurrences\b|wrote\b|written\b|created\b|updated\b|modified\b|inserted\b|deleted\b|removed\b|overwr(?:ote|itten)\b|saved\b|patch(?:ed)?\b|section\b|apply model\b).{0,280}\b(?:success(?:ful|fully)?|updated?|edited|edits?|created|written|wrote|saved|modified|applied|replaced|replacements?|overwr(?:ote|itten)|inserted|deleted|removed|changes?|changed|patched|unchanged|reads)\b/i;
const REVIEW =
  /^(?:Review the changes|Please review|Edit the file again|Here(?:'|’)s the (?:result|updated)|Here are the relevant|IMPORTANT: For any future changes|Success\.|[AMD] [\w./@-]{1,250}$|\d+ (?:replacements?|edits?)\b|I (?:committed|have) )/i;

/** Start and end of the list of an editor's findings. */
const FINDINGS_BEGIN =
  /^\s{0,8}<(?:(?:new-|file_|project_|lsp_)?diagnostics|problems|lint(?:er)?[-_]errors?)\b|\b(?:problems?|errors?|warnings?|issues?|diagnostics)\b.{0,60}\b(?:detected|found|reported|introduced)\b.{0,80}(?::|fix\b.{0,10})$|\b(?:found|detected|introduced|has) (?:the following |new )?(?:lint(?:er)? |diagnostic |LSP )?(?:errors?|problems?|issues?)\b.{0,60}:?$/i;
const FINDINGS_END =
  /^\s{0,8}<\/(?:(?:new-|file_|project_|lsp_)?diagnostics|problems|lint(?:er)?[-_]errors?)>/i;
/** Lists without an end marker end at a blank line before other text, or after this many lines. */
const MAX_FINDINGS = 200;

/** Returns the indexes of the lines of such confirmations. */
export function editConfirmations(lines: readonly string[]): readonly number[] {
  const confirmed: number[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!.slice(0, MAX_LINE_CHARS);
    if (FINDINGS_BEGIN.test(line)) {
      const end = findingsEnd(lines, at);
      for (; at < end; at++) confirmed.push(at);
      at--;
    } else if (CONFIRMATION.test(line) || REVIEW.test(line)) confirmed.push(at);
  }
  return confirmed;
}

function findingsEnd(lines: readonly string[], from: number): number {
  const limit = Math.min(lines.length, from + MAX_FINDINGS);
  for (let at = from + 1; at < limit; at++)
    if (FINDINGS_END.test(lines[at]!.slice(0, MAX_LINE_CHARS))) return at + 1;
  return limit;
}

/** Tools that write to a file, and the shell's command to apply a patch. */
const EDIT_TOOL =
  /(?:^|[_.-])(?:edit|multi_?edit|write|patch|apply|replace|insert|create|update|modify|append|delete|rename|undo)(?:$|[_.-])/i;
const PATCH_COMMAND = /\bapply_patch\b/;
const EDIT_PARAMETERS =
  /^(?:old_?str(?:ing)?|new_?str(?:ing)?|oldText|newText|file_?text|patch|diff|edits|replacement|search_?replace|code_?edit)$/i;

/** Returns true for the result of a call that edits files, judging by its tool's name and input. */
export function isEditResult({ kind, toolName = '', toolInput }: ConversationBlock): boolean {
  if (kind !== 'tool_result') return false;
  const toolWords = toolName
    .replace(/^.*(?:__|[.:/])(?=\w)/, '')
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '_');
  if (EDIT_TOOL.test(toolWords)) return true;
  if (typeof toolInput === 'string') return PATCH_COMMAND.test(toolInput.slice(0, 2000));
  if (typeof toolInput !== 'object' || toolInput === null) return false;
  return Object.entries(toolInput).some(
    ([key, value]) =>
      EDIT_PARAMETERS.test(key) ||
      (key === 'command' && PATCH_COMMAND.test(JSON.stringify(value).slice(0, 2000))),
  );
}
