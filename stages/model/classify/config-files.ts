/**
 * Rules for configuration and build files: what distinguishes their rows from code, logs and prose.
 */
import type { Evidence } from './evidence.ts';
import type { FeatureCounts } from './features.ts';

/**
 * Returns true for INI and TOML: sections are so specific that inline tables, which look like code,
 * do not matter.
 */
export function isTableConfig({ features, expected, markdownFences, report }: Evidence): boolean {
  if (report || expected === 'code' || markdownFences || features.of('iniSection') === 0)
    return false;
  if (features.share('codeWord') >= 0.2) return false;
  if (features.share('assignment', 'alignedAssignment', 'settingComment') === 0) return false;
  const rows = features.share(
    'assignment',
    'alignedAssignment',
    'iniSection',
    'hashComment',
    'iniValue',
  );
  return (
    rows >= 0.65 ||
    (rows >= 0.3 &&
      features.share('assignment', 'iniSection', 'hashComment', 'indented') >= 0.95 &&
      features.share('codeEnd') < 0.1)
  );
}

/**
 * First lines that identify generated or well-known files: of Go, Ruby, Yarn, firewalls, name
 * servers, packages, users.
 */
const KNOWN_START =
  /^(?:module \S{1,200}\n+go \d|GEM\n {2}remote:|# yarn lockfile|(?:#.{0,200}\n)?\*(?:filter|nat|mangle|raw)\n:|\$(?:TTL|ORIGIN) \S|cabal-version: |root:[^:\n]{0,80}:0:|Source: \S{1,100}\n(?:Section|Maintainer|Priority): )/;

/** Returns true for rows of udev, cron, PAM; globs one per line; blocks of settings with `=`. */
function isRowsOfSettings(features: FeatureCounts): boolean {
  if (features.share('codeWord') >= 0.4) return false;
  if (features.of('settingRow') >= 2)
    return features.share('settingRow', 'assignment', 'hashComment') >= 0.8;
  if (features.share('codeWord') >= 0.15) return false;
  const globs = features.of('globMark');
  if (globs >= 2 && features.share('globRow', 'hashComment') >= 0.95)
    return features.of('hashComment') > 0 || globs >= features.lines / 3;
  if (features.of('blockOpen') === 0 || features.of('assignment') < 2) return false;
  return features.share('assignment', 'directive', 'hashComment', 'comment') >= 0.95;
}

/**
 * Returns true for JSON with comments or unquoted names, and for blocks of rows ending in `;`, as
 * of nginx or BIND.
 */
export function isBracedConfig({ text, features, markdownFences }: Evidence): boolean {
  if (markdownFences || features.lines < 4 || features.share('codeWord') >= 0.1) return false;
  if (
    /^[\s{[]*(?:\/\/|\/\*|["'\w$])/.test(text.slice(0, 200)) &&
    /^\s*(?:\/\/.*\n\s*)*[{[]/.test(text.slice(0, 2000))
  )
    if (features.share('memberRow') >= 0.95) return true;
  return (
    features.of('blockOpen') > 0 &&
    features.share('endedRow') >= 0.85 &&
    features.share('endedValue') >= 0.2
  );
}

/** Returns true for make rules or CMake calls. */
export function isBuildFile(features: FeatureCounts): boolean {
  // Most lines of code begin with a keyword or end in punctuation.
  if (features.share('codeEnd') >= 0.35 || features.share('codeWord') >= 0.5) return false;
  if (features.of('makeMark') >= 1 && features.share('makeRow', 'hashComment') >= 0.85)
    return features.share('makeMark') >= 0.08;
  const calls = features.of('cmakeCall');
  return calls >= 3 && calls >= features.lines * 0.3;
}

/** Returns true for YAML keys, settings with `=`, directives, requirements, container files. */
export function isConfig({ features, text, markdownFences }: Evidence): boolean {
  if (KNOWN_START.test(text)) return true;
  if (features.share('styleRow') >= 0.3 && features.share('codeEnd') >= 0.5) return false;
  const commented = features.share('hashComment') >= 0.3;
  if (!commented && features.share('prose') > 0.6 && features.share('yamlKey') < 0.2) return false;
  if (/^FROM /m.test(text.slice(0, 4000)) && features.share('dockerLine') >= 0.25) return true;
  const code = features.share('codeEnd', 'codeWord');
  if (features.of('topKey') >= 3 && features.share('yamlKey') >= 0.35 && code < 0.7)
    if (!markdownFences && !/^\t/m.test(text.slice(0, 20_000))) return true;
  if (features.lines >= 2 && features.share('requirement', 'hashComment') >= 0.7)
    if (features.share('requirement') >= 0.4) return true;
  const yaml = features.share('yamlKey', 'hashComment');
  if (features.of('yamlKey') >= 3 && yaml >= 0.55 && code < 0.3) return !markdownFences;
  if (isDirectives(features) || (!markdownFences && isRowsOfSettings(features))) return true;
  if (features.lines < 3 || features.of('assignment') === 0) return false;
  const settings = features.share('assignment', 'hashComment');
  const others = features.share('assignment', 'hashComment', 'codeEnd', 'codeWord') - settings;
  return others < 0.1 && settings >= 0.85;
}

/**
 * Returns true for a word and its values per line: in blocks, as of nginx or ALSA, or among
 * comments, as of OpenSSH.
 */
function isDirectives(features: FeatureCounts): boolean {
  if (features.lines < 5 || features.share('codeWord') >= 0.05) return false;
  const min = features.of('blockOpen') > 0 ? 0.9 : 0.97;
  const comments = features.share('hashComment');
  if (comments > 0.95) return features.of('settingComment') >= 2;
  if (features.of('blockOpen') === 0 && comments < 0.15) return false;
  return features.share('directive', 'hashComment') >= min;
}
