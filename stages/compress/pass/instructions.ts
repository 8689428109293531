/**
 * Files with instructions for agents and contributors, and the notes agents keep for later. They
 * are recognized by name and folder, as their content looks like any other prose.
 */
const INSTRUCTION_NAME =
  /(?:^|[/\\])(?:(?:agents?|claude|gemini|qwen|crush|codex|warp|conventions|contributing|hacking|skill|memory|prompt|instructions|rules?|todo|plan|tasks?|spec(?:s|ification)?|requirements|brief|issues?|tickets?|proposal|acceptance|criteria|assignment|goals?|scope|prd|(?:pull_request|issue)_template)(?:\.[\w-]{1,40})?\.(?:mdx?|mdc|markdown|rst|txt)|[^/\\]{0,100}(?:\.mdc|instructions\.md)|\.\w{1,20}(?:rules|hints)(?:\.md)?|\.aider\.conventions[^/\\]{0,40})$/i;
const INSTRUCTION_FOLDER =
  /(?:^|[/\\])(?:\.(?:claude|cursor|clinerules|codex|gemini|kiro|roo|windsurf|cline|goose|continue)[/\\]|\.?\w{1,20}rules[/\\][^/\\]{1,200}\.mdc?$|(?:specs?|rfcs?|adrs?|prompts?|requirements|stories|tickets|issues|tasks)[/\\][^/\\]{1,200}\.(?:mdx?|markdown|rst|adoc|txt)$)/i;
/** Separators between paths in a command or in a call's input written as JSON. */
const PATH_SEPARATORS = /[\s'"`=;|&<>(),[\]{}]+/;
const MAX_TEXT_CHARS = 2000;

/** Returns true if a path in `text` names such a file. */
export function namesInstructions(text: string): boolean {
  return text
    .slice(0, MAX_TEXT_CHARS)
    .replaceAll('\\\\', '/')
    .split(PATH_SEPARATORS)
    .some((word) => INSTRUCTION_NAME.test(word) || INSTRUCTION_FOLDER.test(word));
}
