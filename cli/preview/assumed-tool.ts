/**
 * Guesses which tool's result a text is: compression treats a log differently from a file that was
 * read.
 */

/** A tool call whose result a file is assumed to be. */
export interface AssumedTool {
  readonly name: string;
  readonly input: Readonly<Record<string, string>>;
  /** Written form: `Bash:npm test`. */
  readonly words: string;
}

/** The main argument of a tool with this name; for all others it is the command. */
const MAIN_INPUTS: Readonly<Record<string, string>> = {
  Read: 'file_path',
  Write: 'file_path',
  Edit: 'file_path',
  Grep: 'pattern',
  Glob: 'pattern',
  WebFetch: 'url',
};

const SAMPLE_LINES = 50;
const PATH = /^[\w.@~-]*(?:\/[\w.@+()[\] -]+)+\/?$/;
const LOG = /^\W?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^\W?\d\d:\d\d:\d\d|\b(?:INFO|WARN|ERROR|DEBUG)\b/;

/** Parses `tool:command`. */
export function toolNamed(written: string): AssumedTool {
  const at = written.indexOf(':');
  const name = at < 0 ? written : written.slice(0, at);
  const rest = at < 0 ? '' : written.slice(at + 1).trim();
  return toolOf(name.trim(), rest);
}

/** Returns the tool that most probably printed `text`, from a file called `name`. */
export function guessTool(text: string, name: string): AssumedTool {
  const lines = text.split('\n', 4 * SAMPLE_LINES).filter((line) => line.trim() !== '');
  const sample = lines.slice(0, SAMPLE_LINES);
  const share = (pattern: RegExp) =>
    sample.filter((line) => pattern.test(line)).length / Math.max(1, sample.length);
  if (/\.(?:diff|patch)$/.test(name) || /^diff --git /m.test(sample.join('\n')))
    return toolOf('Bash', 'git diff');
  if (/\.(?:log|out)$/.test(name) || share(LOG) >= 0.5) return toolOf('Bash', `cat ${name}`);
  if (sample.length > 2 && share(PATH) >= 0.8) return toolOf('Glob', '**/*');
  if (sample.length > 2 && share(/^[^\s:]+\.\w+[:-]\d+[:-]/) >= 0.6) return toolOf('Grep', '.');
  return toolOf('Read', name);
}

function toolOf(name: string, rest: string): AssumedTool {
  const words = rest === '' ? name : `${name}:${rest}`;
  return { name, input: { [MAIN_INPUTS[name] ?? 'command']: rest }, words };
}
