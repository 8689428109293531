/**
 * Line features: one table of patterns, counted over a sample of lines. Lines are cut
 * before any pattern sees them, and no pattern nests quantifiers, so that a line of a
 * megabyte costs no more than a line of 300 characters.
 */

import { anyOf } from './any-of.ts';

/** Maximum length of the part of a line that a pattern examines, in characters. */
export const LINE_CAP = 300;
const START_LINES = 60;
const SPREAD_LINES = 80;

const FEATURES = {
  grepHit:
    /^(?:\.{0,2}\/)?[^\s:][^:]{0,200}(?<!(?:(?:[\W_T]|^)\d\d|\/\d{4})(?=:\d\d:\d\d)):\d{1,7}[:-](?!in [`'])/,
  grepHitSpaced:
    /^[^:\d][^:]{0,200}(?<!(?:(?:[\W_T]|^)\d\d|\/\d{4})(?=:\d\d:\d\d)):\d{1,7}[:-](?!in [`'])/,
  grepContext: /^(?!\d{4}-\d\d-)[^\s:]{1,200}-\d{1,7}-/,
  revHit: /^[\w./@{}~^-]{1,80}:(?=[^:]{0,200}[./])[^\s:][^:]{0,200}:\d{1,7}[:-]/,
  revFile: /^(?:HEAD|[0-9a-f]{7,40})(?:[~^]\d{0,3})?:[\w@./+-]{1,200}[:-]/,
  grepNumber: /^(?!\d{2,4}[-:]\d\d[-:]\d\d|\d\d-[A-Z][a-z]{2}-\d)\d{1,7}[:-]/,
  grepFile: /^(?=[^:]{0,200}[./])[\w@./+-]{2,300}:(?!\/\/)(?! *$)/,
  /** Below a file's path, as agents' own searches print hits. */
  listedHit: /^ {2}Line \d{1,7}: /,
  hitHeading: /^(?:[^\s:]{1,280}|(?=[^/]{0,120}\/)[^:]{2,280}|--)$/,
  diagnostic:
    /^[^\s:(]{1,200}(?::\d+(?:[:.]\d+(?:-\d+(?:\.\d+)?)?)?:?|\(\d+(?:,\d+)?\):?) (?:- )?(?:fatal )?(?:error|warning|note|info|style|information|hint|performance|portability|ERROR|WARNING|CRITICAL|SEVERE|Fatal|Error|Warning|Note|Hint)\b|^\s{0,4}[^\s:]{1,200}:\d{1,7}:\d{1,5}:(?: [^\s\d]|$)|^\S{1,200}(?::\d+:\d+)? (?:lint|parse|format|assist|check|ci)(?:\/\S{1,100})? .{0,40}━{3}/,
  lintRow: anyOf([
    /^\s{1,8}L?\d{1,6}(?::\d{1,6})? +\|? ?(?:error|warning|info|ERROR|WARNING|✖|✗|⚠)\s/,
    /^[^\s:]{1,200}: line \d+, col \d+, |\bat line \d+, column \d+\.|^line \d+ column \d+ - [A-Z]|^In \S{1,200} line \d+:$/,
    /\bSC\d{4} \((?:error|warning|info|style)\)|^\s{0,8}L\d{1,6} +\|/,
  ]),
  sourceView:
    /^ {1,8}\d{1,6} +\| |^ {3,14}\|(?: {1,8}\|){0,4} *(?:[\^~+|(]|-{1,4}>|\d{1,6} \||$)|: In (?:\w+ ){0,2}(?:function|constructor) |^In file included from |^ {2,12}[\^~]{1,80}$/,
  longListing: /^[bcdlps-][rwxsStT-]{9}[+@.]? +\d+ /,
  gitTree: /^\d{6} (?:(?:blob|tree|commit) [0-9a-f]{40,64}(?: +[\d-]+)?|[0-9a-f]{40,64} \d)\t/,
  commitHeader: /^[*|/\\ ]{0,12}commit [0-9a-f]{7,64}\b/,
  treeLine: /^[│├└|` \u00a0]{0,80}(?:├──|└──|\|--|`--) /,
  pathLine: /^ {0,4}(?:- )?[\p{L}\p{M}\p{N}@.,+%=~()[\]/\\_'&#!$ -]{1,280}$/u,
  dirHeading: /^(?:\.|(?=[^/]{0,120}\/)[\p{L}\p{M}\p{N}@./+~_ -]{2,280}):$/u,
  slashPath: /^(?=[^/\\]{0,120}[/\\])[\p{L}\p{M}\p{N}@.:/\\+~_()[\] -]{2,280}$/u,
  fileName: /^[\p{L}\p{M}\p{N}@.,+_()[\]'&#! -]{1,120}\.[A-Za-z][\w]{0,9}$/u,
  pathWord: /^ {0,4}(?:- )?[\p{L}\p{M}\p{N}@.+%=~()[\]/_-]{1,280}$/u,
  pyFrame: /^[ |]{0,12}File "[^"]{1,200}", line \d+(?!, char|\d)/,
  jsFrame: /^\s{2,8}at .{0,200}(?::\d+:\d+\)?(?: \{)?|\(native\)|<anonymous>\)?)$/,
  javaFrame: /^\s+at [\w.$/<>`+]{3,200} ?\([^)]{0,120}\)|^\s+\.\.\. \d+ (?:more|common frames)/,
  goFrame: /^(?:\t| {6})\S{1,200}\.go:\d+|^[Gg]oroutine \d+ [[(]/,
  rustFrame: /^ {1,4}\d+: +(?:0x[0-9a-f]{1,16} - )?[\w<>:$ {}#&'*]{2,280}$|^ {13}at \S/,
  rubyFrame: /^\s*(?:\d+: )?(?:from )?\S{1,200}:\d+:in [`']/,
  phpFrame: /^#\d{1,4} (?:\S{1,200}\(\d+\): |\{main\}|\[internal function\])/,
  perlFrame: /^\t\S{1,160}\(.{0,120}\) called at \S{1,120} line \d/,
  luaFrame: /^\t(?:\[C\]|[^\s:]{1,200}:\d+): in /,
  elixirFrame: /^ {4}(?:\([\w.]+ [\w.-]+\) )?[^\s:]{1,160}\.(?:exs?|erl):\d+: /,
  // C and C++ by sanitizers and debuggers, Dart, Swift, Julia, Haskell, IPython, Firefox.
  otherFrame: anyOf([
    /^\s{0,8}#\d{1,3} +(?:0x[0-9a-f]{3,16} in \S|\S.{0,200} (?:at|from) \S{1,200}(?::\d+)?$|\S.{0,200}\(\S{1,200}:\d+:\d+\)$|\S.{0,240} \(\S{1,120}\+0x[0-9a-f]{1,16}\))/,
    /^│ (?:\S{1,200}:\d+ in \S|[❱ ] {0,6}\d{1,6} )/,
    /^\d{1,3} {1,6}\S{1,80} +0x[0-9a-f]{6,16} \S/,
    /^ {1,4}\[\d{1,3}\] [\w!@#.]{1,80}(?:[({]| scope$)|^ {3,6}@ \S{1,80} \S{1,200}:\d+$/,
    /^ {2}\S{1,120}, called at \S{1,200}:\d+:\d+ in \S/,
    /^(?:Cell In ?\[\d+\], line \d|File \S{1,200}:\d+, in |-{2,}> \d+ )/,
    /^[\w$.<>/*]{0,120}@(?:https?|file):\S{3,200}:\d+:\d+$/,
    /^(?:Raised|Re-raised|Called) .{1,160} in file "[^"]{1,160}".{0,12}, line \d/,
    /^\d{1,3}: \(.{1,280}\)$|^ {2,12}(?:\d{1,6}:\d{1,4} +)?\d{1,3} \(.{1,280}\)$|^In \S{1,160}:$/,
    /^ {4}(?:while executing|invoked from within|\(procedure "[^"]{1,100}" line \d{1,7}\))$/,
  ]),
  traceHeader:
    /^(?:(?:[ |+]{0,12}(?:Exception Group )?|╭─{1,60} )Traceback \(most recent call last\)|(?:Current t|T)hread 0x[0-9a-f]{4,16}\b|Fatal Python error: |WARNING: (?:DATA RACE$|\w{1,40}Sanitizer: )|Exception in thread|Caused by: |panic: |goroutine \d{1,9} \[|thread '.{0,80}' panicked|stack backtrace:$|(?:[\w.$]{0,120})(?:Error|Exception)(?: \[\w{1,40}\])?(?::|$)|Uncaught |(?:PHP )?(?:Fatal error|Warning): {1,4}Uncaught |stack traceback:$|Stacktrace:$|CallStack \(from HasCallStack| {4}while executing$|Fatal error: exception |Backtrace(?: for: .{0,160}|:)$|==\d+==ERROR: |Program (?:received|terminated with) signal |\w{1,60}(?:Error|Exception) {4,80}Traceback \(most |\*\* \(\w{1,80}|[^\s:]{1,200}:\d+:in [`']|\S.{0,160} at \S{1,120} line \d+\.?$)/,
  timestamp:
    /^(?:<\d{1,3}>\d? ?|[A-Z] (?=\d{4}-\d\d-)|\d{1,7}:[A-Z] )?[[(<]?(?:\d{1,9}:\d{1,9}:\d{4}\/\d{6}|\d{4}[-/]\d\d[-/]\d\d(?:[T _]| {2}| - )\d|\d{4}:\d\d:\d\d-\d\d:\d\d|[A-Z][a-z]{2}-\d\d-\d\d \d\d:\d\d|\d\d:\d\d:\d\d|\w{3} +\d{1,2} \d\d:\d\d:\d\d|\d{2}[/. -](?:\d\d|[A-Z][a-z]{2})[/. -]\d{2,4}[ -]\d\d|\d{10}(?:\.\d+)? |\d{13} |\d{6} \d{6} | *\d+\.\d{3,9}[\])]|\d\d[-./]\d\d \d\d:\d\d:\d\d|\d{8}-\d\d:\d\d|[A-Z]\d{4} \d\d:\d\d:\d\d|[A-Z], \[\d{4}-|\d{1,3}(?:\.\d{1,3}){3} - |(?:Sun|Mon|Tue|Wed|Thu|Fri|Sat) \w{3} |[A-Z][a-z]{2} \d{1,2}, \d{4} \d{1,2}:\d\d:\d\d)/,
  clock:
    /^.{0,100}?(?:\d{4}[-/.]\d\d[-/.]\d\d(?:[T _-]| - | {2})\d{1,2}[:.]\d\d[:.]\d\d|\b\d{1,2}[ /.-]\w{2,3}[ /.-]\d{2,4}[: T]{1,2}\d{1,2}:\d\d|\b[A-Z][a-z]{2} +\d{1,2},? (?:\d{4} )?\d\d:\d\d:\d\d|(?<![\d:])\d\d:\d\d:\d\d[.,]\d\d|\b1\d{9}\.\d{3}\b)/,
  clockMark:
    /^.{0,100}?(?:\[[^\]]{0,40}\d\d:\d\d(?::\d\d|\])|\b(?:time|ts|timestamp|date|at)="?\d|\baudit\(|\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?: )/,
  hashRow: /^\W{0,12}(?:\d{4}-\d\d-\d\d (?:\d\d:\d\d:\d\d [+-]\d{4} )?)?[0-9a-f]{7,40}[ |,(]/,
  level:
    /^(?:(?:\S{1,60} +){0,5}(?:[[(<]?(?:TRACE|DEBUG|INFO?|NOTICE|WARN|WARNING|WRN|ERROR|ERR|DBG|TRC|FTL|FATAL|CRITICAL|SEVERE)[\])>]?[ :\t/]|(?:level|lvl|severity)="?[A-Za-z])|(?:info|warn|fail|dbug|trce|crit|debug|error): +\S|(?:[\w.-]{1,60} )?[\w./-]{2,40}\[\d{1,7}\]: |[VDIWEF](?: [\w-]{1,40}\.[\w.-]{1,60}:? |\/[\w.$-]{1,60} *\( *\d+\): )|\[(?:info|warn|error|debug|trace|notice|success)\] )/,
  ciMark: /##\[\w+\]|^::\w+|^\d{4}-\d\d-\d\dT[\d:.]{8,20}Z |^\[command\]|^travis_|^section_start:/,
  testMark:
    /^(?:=+ .{0,120} =+$|_{4,} .{0,160} _{4,}$|\S{1,200}::\S{1,200} |(?:PASS|FAIL|XPASS|XFAIL|FAILED|PASSED|ERROR|SKIPPED|ok|not ok)\b|\s{1,12}(?:not )?ok \d|\s{0,40}(?:# Subtest: |duration_ms: \d)|\s*\d+\/\d+ Test +#\d|--- (?:PASS|FAIL|SKIP)| {1,4}(?:PASS|FAIL) {1,3}\S|=== RUN|running \d+ tests?|test \S{1,200} \.\.\. |Ran \d+ tests? |Tests?:? +\d+|Test Suites:|test result:|\S{1,200} \(\S{1,200}\) ?\.\.\. |collected \d+|platform \w+ -- |\s{0,8}[✓✗✕✔✖√×●•] |E {3}|\S{1,160} [.FEsxX]{1,100}(?: *\[ *\d+%\])?$|(?!x{5})[.FEsxXS]{5,120}(?: *\[ *\d+%\])?$)/,
  // A status symbol before each line, as in reporters and pretty loggers; a request and its status.
  statusMark: anyOf([
    /^\s{0,8}(?:\[.{1,40}\] {1,2}› {1,2})?(?:\[[ +*!x✓✔-]\]|[ℹ✔✓√✅✖✘✗❌×⚠⧗ⓘ◐◑◒◓◯☐☒★☆⬤♥⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏✨➜])[\ufe0e\ufe0f]? {1,3}\S/,
    /^(?:\[pid +\d{1,9}\] |\d{1,9} +)?(?:[\d:.]{6,20} )?\w{2,30}\(.{0,240}\) += (?:-?\d{1,20}(?: [E(<]|$)|0x[0-9a-f]{1,16}$|\?)/,
    /^(?:==|--|\*\*)\d{2,9}(?:==|--|\*\*)(?: |$)/,
    /^[^A-Z]{0,80}(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) [/*]\S{0,200}"? .{0,60}(?<![\w.])[1-5]\d\d(?![\w.])/,
  ]),
  testFrame:
    /^(?:=+ (?:test session starts|FAILURES|ERRORS|short test summary info|warnings summary|tests coverage|\d+ (?:passed|failed|error).{0,100}) =+$|Ran \d+ tests? in |test result: |Test Suites: |Tests: {1,8}\d|running \d+ tests?$|\s{0,4}Test Files {1,4}\d|# tests \d|=== RUN|System check identified)/,
  buildMark: anyOf([
    /^(?: *(?:Considering target|Must remake|Finished prerequisites|Compiling|Downloading|Downloaded|Collecting|Installing|Requirement already|Building|Finished|Checking|Fetching|Updating|Preparing|Using cached|Successfully|Linking|Generating|Unpacking|Setting up|Selecting|Get:|Hit:|Resolving|Created|Attempting|Found existing|Processing|Looking in|Obtaining|Running setup|checking (?:for|whether|how|if|build|host|target))\b|configure: |config\.status: | {2,3}(?:adding|inflating|extracting|creating): |npm (?:ERR|WARN|notice|warn|error|http|info|verb|sill|timing)|\w{2,20}: \[(?:emerg|alert|crit|error|warn|notice)\] |added \d+ packages|g?make(?:\[\d+\])?:|(?:\/\S{1,80}\/)?ld: \S|collect2: |\[ {0,2}\d+%\]|\[\d+\/\d+\]|-- (?:Looking|Found|Performing|The|Check|Configuring|Detecting|Generating|Build files)|Step \d+\/\d+|#\d+ (?:\[|\d|[A-Z]{4,6}\b(?!  )|sha256|extracting|transferring|resolve|exporting|naming|writing|pushing|preparing)|> [\w@./-]+@?[\d.]* |\$ |(?:warning|error|hint|fatal)(?:\[\w+\])?: |(?:Error|Warning): .{1,200} at \(\d\)|BUILD |Compiled |info |warn |\[(?:warn|error|info|debug)\] |Creating |Destroying |Synchroniz|Applying |> (?:Task|Configure|Transform) |➤ YN\d|Progress: |==> |\[Pipeline\] |(?:ok|changed|skipping|fatal|failed|included): \[|(?:TASK|PLAY|HANDLER|RUNNING HANDLER) (?:\[|RECAP)| ---> |Removing intermediate|[0-9a-f]{12}: (?:Pull|Already|Down|Verif|Wait|Push|Layer|Prepar|Mount|Extract)|(?:START|END|REPORT) RequestId: |travis_|\(\d+\/\d+\) \S|Processing triggers|Reading |Inst |Conf |Remv )/,
    /^\s{1,8}(?:- )?(?:Installing|Upgrading|Removing|Downloading|Locking|Updating|Verifying|Cleanup|Unpacking|Extracting)[ :]/,
    /^[\w.[\]"-]{3,200}: (?:Creating|Creation|Still|Modif|Destr|Refreshing|Reading|Read complete)/,
    /^ [+~-] {1,3}\S.{0,160} (?:creat|delet|updat|replac)(?:ing|ed)\b/,
    /^[\w.-]{1,60}[_-]\d{1,3} +\| (?!.{0,200} \| )|^=[A-Z]+ REPORT====|\b(?:PASSED|FAILED) in \d/,
    /^(?:CompileC|CompileSwift|Ld|Libtool|CpResource|PhaseScriptExecution|CodeSign|ProcessInfoPlistFile|Touch|MkDir|SwiftCompile) \S/,
  ]),
  step: anyOf(
    [
      /^\s*(?:step|stage|phase|round|attempt|iteration|epoch|retry|pass)\W{0,2}\d/,
      /^\s*\[?(?:loading|parsing|starting|running|waiting|retrying|cleaning|processing|executing|connecting|writing|reading|copying|creating|removing|deleting|testing|bundling|transforming|rendering|optimi[sz]ing|stopping|launching|initiali[sz]ing|configuring|verifying|validating|cloning|pulling|pushing|extracting|publishing|deploying|listening|watching|compiling|building|linking|generating|installing) \S/,
      /^\s*[a-z]{2,20}ing\b.{1,200}(?:\.{3}|…)(?: {0,2}(?:done|ok|yes|no|failed|finished|skipped)\b.{0,20})?$/,
      /\b(?:in|took|after|elapsed:?) \d+(?:\.\d+)? ?(?:ms|s|secs?|seconds?|m|min)\b/,
      /\b(?:time|loss|accuracy|fps)[:=] ?\d| \+\d+m?s$|% ?\|[ #█=>.-]{3}|\(\d+(?:\.\d+)? ?m?s\)/,
      /^\s*(?:CC|CXX|LD|AR|GEN|HOSTCC)(?:\(T\))? +\S{1,200}\.\w{1,4}\b/,
      /^\S{0,80}(?:cc|gcc|g\+\+|c\+\+|clang|clang\+\+|rustc|javac|ld|ar|libtool) -/,
      /^(?:rm|mkdir|install|cp|mv|ln|ranlib|strip|ar|test -d) [-\w]{1,12} \S/,
    ],
    'i',
  ),
  diffLine: /^(?:[ +\-\\@]|diff |index |new file|deleted file|similarity|rename |Binary files|$)/,
  tagLine: /^\s*<[/!?A-Za-z][^>]{0,240}>/,
  codeEnd: /[;{}]\s*(?:\/\/.*)?$|^\s*[)}\]]{1,4}[;,]?\s*$/,
  codeWord:
    /^\s*(?:import |from \S{1,120} import|(?:async )?def |class \w|func |fn |pub |const |let |var |return\b|if ?\(|if .{1,120}:$|elif |else:|else ?\{|for ?\(|for .{1,80}:$|while |#include|#define|#if|using |namespace |package |public |private |protected |static |export |async |await |try:|try ?\{|except|finally|raise |throw |yield |with .{1,120}:$|switch ?\(|case .{1,80}:$|@\w|struct |enum |interface |type \w{1,60} =|impl |module |require|assert |self\.|this\.|print\()/,
  codeShape:
    /^\s*[\w.$[\]"']{1,120} ?(?:=|\+=|-=|:=|=>) ?\S|^\s*[\w.$]{1,120}\([^)]{0,200}\)?[:;,]?$|=> ?[{(]|\)\s*(?:->.{0,80})?[:{]$|\w\.\w+\(/,
  comment: /^\s*(?:\/\/|\/\*|\*\/? |\*\/|\*$|#(?!#* )|"""|'''|--\s)/,
  yamlKey: /^\s*(?:- )?(?:["']?[\w@./$-]{1,80}["']?|[\w ./-]{1,60}):(?: |$)|^\s*- \S|^---$/,
  iniSection: /^\s*\[{1,2}[\w."' :/@-]{1,120}\]{1,2}$/,
  assignment:
    /^\s*(?:export )?["']?[\w.@/-]{1,80}(?::[\w-]{1,40})?["']?(?:\[[\w@.-]{1,20}\])? ?= ?(?!=)|^\s*"[^"]{0,200}",?$|^\s*\][,]?$|^\s*\{ \w.{0,200}\},?$/,
  alignedAssignment: /^\s*[\w.@/-]{1,80}[ \t]{1,40}= ?\S/,
  iniValue: /^\s{2,12}[\w./@*:\\-]{1,80}$/,
  topKey:
    /^(?!(?:else|try|finally|except|default|public|private|protected):)[A-Za-z_][\w.-]{0,60}:(?: |$)/,
  requirement: /^[A-Za-z][\w.-]{0,80}(?:\[[\w,-]{1,60}\])? ?(?:==|>=|<=|~=|!=|<|>) ?\d/,
  hashComment: /^\s*[#;]|^! /,
  indented: /^(?: {2}|\t)\s{0,200}\S/,
  memberRow:
    /^\s*(?:(?:"[^"]{1,100}"|'[^']{1,100}'|[\w$]{1,80})\s?:\s.{0,250}|(?:[{}[\]"']|-?[\d.]).{0,250},|[{}[\]]{1,4},?)(?:\s*\/[/*].{0,200})?$|^\s*(?:\/\/|\/\*|\*)/,
  endedRow:
    /^\s*[A-Za-z_$@~"*][\w.:@~$"*/-]{0,80}(?:[ \t]+[^(){};=\s][^(){};=]{0,200})? ?[{;]$|^\s*"[^"]{1,240}";$|^\s*[{}];?$|\{ [^{}]{1,120}; ?\};?$|^\s*(?:#|\/\/|\/\*|\*)/,
  endedValue:
    /[ \t](?:[\w.:/-]*\d[\w.:/%-]*|"[^"]{0,120}"|on|off|yes|no|true|false|[\w.-]*[/.][\w./*-]+|\$\w+);$/,
  settingComment:
    /^\s*[#;] ?[\w.-]{2,60}[ \t]{0,40}= ?\S|^[#;](?!(?:include|define|undef|pragma|if|ifn?def|elif|else|endif|error|region)\b)[A-Za-z][\w-]{2,40}[ \t]+[\w"'/.*<$-]/,
  directive:
    /^\s*[A-Za-z_@.</%*"][\w.@:"<>*/-]{0,80}(?:[ \t](?:[^(){}=]|\$\{\w{1,40}\}){1,220}(?:#.{0,200})?)?[ \t]?[{[]?$|^\s*[}\]{[]{1,2}$/,
  blockOpen: /^\s*[A-Za-z_@/"*][\w.@"/*-]{0,80}(?:[ \t][^(){}=:;]{1,140})? ?[{[]$/,
  // udev, cron, PAM; hardware database: rows that no other kind of text has.
  settingRow: anyOf([
    /^[A-Z]{2,20}(?:\{[^}]{1,80}\})?(?:[=!]=|[+:-]?=)"/,
    /^(?:@(?:reboot|yearly|annually|monthly|weekly|daily|hourly)|(?:[\d*/,-]{1,20}[ \t]+){5})\s*\S/,
    /^(?:Defaults[ \t:@!>]|[%@\w.-]{1,60}[ \t]{1,20}\w{1,60} ?= ?\(\w)/,
    /^\s*(?:(?:owner|deny|audit|allow) )?(?:[/@"]\S{0,200}[ \t]{1,20}(?:[rwmaklixUPCpc]{1,8}|[CPU]x -> \S{1,100})|capability [\w ]{1,80}|network [\w ]{1,60}|(?:signal|ptrace|dbus|unix)\b.{0,200}),$/,
    /^-?(?:auth|account|password|session)[ \t]+(?:required|requisite|sufficient|optional|include|substack|\[)|^@include /,
    /^[a-z]{2,20}:[^\s]{0,100}\*[^\s]{0,100}$/,
  ]),
  makeRow:
    /^(?:\t[ \t]*\S|[\w./%$(){}@~-]{1,120}(?: [\w./%$(){}@ ~-]{1,160})? ?::?(?!=)(?: |\t|$)|[\w.-]{1,80}[ \t]*(?:[:?+]|::)?=|(?:ifn?eq|ifn?def|else|endif|-?include|sinclude|define|endef|export|unexport|vpath|override)\b|\s{1,60}\S.{0,200}\\$|\})/,
  makeMark: /^\.(?:PHONY|SUFFIXES|DEFAULT)\b|\$[(@<^]|^[\w.-]{1,80}[ \t]*:=|^ifn?(?:eq|def) /,
  cmakeCall:
    /^\s*(?:cmake_\w+|project|set|unset|option|if|else|elseif|endif|foreach|endforeach|function|endfunction|macro|endmacro|include|include_\w+|find_\w+|add_\w+|target_\w+|[gs]et_\w+|list|string|file|message|install|return|mark_as_advanced|enable_\w+|link_\w+)[ \t]?\((?![^()]{0,200}\) ?\{)/i,
  globRow: /^!?[\w./*?@~{}[\]+,-]{1,120}$/,
  globMark: /^!|\*|\/$|^\//,
  styleRow: /^\s*(?:--)?[a-z][a-z-]{1,40} ?: ?[^;{}]{1,200};\s*(?:\/\*.{0,120})?\}?$/,
  dockerLine: /^(?:FROM|RUN|COPY|ADD|ENV|WORKDIR|EXPOSE|CMD|ENTRYPOINT|ARG|LABEL|USER|VOLUME) /,
  heading: /^#{1,6} \S|^[=~^-]{4,}$/,
  subheading: /^#{2,6} \S/,
  bullet: /^\s{0,6}(?:[-*+•] |\d{1,3}[.)] )\S/,
  fence: /^\s{0,6}(?:```|~~~)/,
  link: /\]\([^)]{1,200}\)|\]\[|https?:\/\/\S/,
  prose: /^\W{0,4}(?:[\w'’",;:()`*/.–—-]{1,40} ){5,}/,
  columns: /\S(?: {2,}|\t)\S/,
  quoteLine: /^> |^!!! |^\|.{1,250}\|$|^\.\. \w/,
  // Signs for and against a program run, whatever the program: `signs.ts` weighs them.
  /** What programs say when something goes wrong. */
  problem:
    /\b(?:errors?|warnings?|not found|no such|cannot|can't|could not|couldn't|unable to|unknown|invalid|missing|unexpected|undefined|unused|exception|deprecated|failed|failure|denied|refused)\b/i,
  /** How something ended, at the end of a line or before a number. */
  outcome:
    /\b(?:pass(?:ed|ing)?|fail(?:ed|ing|ures?)?|ok|done|success(?:ful(?:ly)?)?|succeeded|completed?|skipp(?:ed|ing)|finished|aborted|rejected|ignored|exit(?:ed)?|killed|timed out|up[ -]to[ -]date|unchanged|cached|yes|no)\b[^\w]{0,3}(?:$|\(|in \d|\d|:)/i,
  /** `Compiling a`, `[store] loading b`, `app: created c`. */
  action: /^\W{0,6}(?:\S{1,30}[\]:>|] ?)?[A-Za-z][a-z]{1,12}(?:ing|ed)\b/,
  levelWord:
    /^\W{0,4}(?:[\w./-]{1,40}[:\s] ?\W{0,2})?(?:error|warning|warn|info|debug\d?|notice|note|fatal|critical|hint|trace|alert|verbose|severe|deprecat\w{1,6})\b\W/i,
  /** A size, a duration, a share. */
  quantity:
    /(?<![\w.])[-+]?\d[\d.,]{0,12}\s?(?:ms|µs|us|ns|s|secs?|seconds?|min|minutes?|[kKMGT]i?B|[kKMG]b|bytes?|[kKM]i?B\/s|%)(?![\w.])/,
  bracketTag: /^\s{0,4}(?:\[[^\]]{1,40}\]|<[\w.]{1,16}>|\([\w .:/-]{1,24}\))[:\s]/,
  /** A command as a shell or a build echoes it before running it. */
  shownCommand:
    /^(?:\+{1,4} \S|[$>] \S|\s{0,8}[\w./+-]{1,80}(?: [^\s-]\S{0,200}){0,6} --?[A-Za-z][\w-]{0,40}(?:[ =]\S|$))/,
  /** A file and a line number in it. */
  place:
    /(?:^|[\s("'`[])[\w.~+@/-]{0,200}\.\w{1,5}(?::\d{1,7}(?::\d{1,7})?(?!\w)|\(\d{1,7}(?:,\d{1,7})?\))|\bline \d/,
  errorName: /\b[A-Z]\w{0,60}(?:Error|Exception|Warning)\b/,
  /** Codes of linters and compilers for findings: `E401`, `TS2345`, `security.W001`. */
  findingCode: /(?:^|[\s([.:])[A-Z]{1,8}-?\d{3,5}(?=[\]):,\s]|$)/,
  arrow: / (?:->|=>|→|<-) /,
  /** Function words between others, as in sentences. */
  sentence:
    /[a-z],? (?:the|a|an|of|to|and|is|are|that|this|which|with|be|in|for|it|as|by|or) (?:[\w'’-]{1,40},? ){2}/,
  call: /\w\.\w{1,40}\(|\b\w{1,60}\([^)]{0,200}\)\s{0,4}(?:[;:{,]|->|=>|=|$)/,
  commaEnd: /,\s*$/,
  /** An option's line in a usage text. */
  option: /^\s{1,12}-{1,2}[\w?]/,
} as const satisfies Record<string, RegExp>;

export type Feature = keyof typeof FEATURES;

/** How many sampled lines have each feature, and how many lines were sampled. */
export interface FeatureCounts {
  readonly lines: number;
  of(feature: Feature): number;
  /** The count as a share of the sampled lines that are not blank, 0–1. */
  share(...features: readonly Feature[]): number;
}

/**
 * Returns a sample of non-blank lines: the first ones, then others evenly spread. Each is cut to
 * `cap`.
 */
export function sampleLines(lines: readonly string[], cap = LINE_CAP): readonly string[] {
  const sample: string[] = [];
  const take = (line: string | undefined): void => {
    if (line === undefined || /^\s*$/.test(line.slice(0, cap))) return;
    sample.push(line.length > cap ? line.slice(0, cap) : line.replace(/\r$/, ''));
  };
  const first = Math.min(lines.length, START_LINES);
  for (let index = 0; index < first; index++) take(lines[index]);
  const step = Math.max(1, (lines.length - first) / SPREAD_LINES);
  for (let at = first; at < lines.length; at += step) take(lines[Math.floor(at)]);
  return sample;
}

/** Which sampled lines have a feature, and how many do. */
interface Hits {
  readonly lines: Uint8Array;
  readonly count: number;
}

/**
 * Counts features over lines, each feature on first use. Plain loops: this is most of the time of a
 * short text.
 */
export function countFeatures(sample: readonly string[]): FeatureCounts {
  const known = new Map<Feature, Hits>();
  const linesWith = (feature: Feature): Hits => {
    const found = known.get(feature);
    if (found !== undefined) return found;
    const hits = findHits(sample, FEATURES[feature]);
    known.set(feature, hits);
    return hits;
  };
  const of = (feature: Feature): number => linesWith(feature).count;
  const share = (...features: readonly Feature[]): number => {
    if (sample.length === 0) return 0;
    if (features.length === 1) return of(features[0]!) / sample.length;
    const any = new Uint8Array(sample.length);
    for (const feature of features) {
      const { lines, count } = linesWith(feature);
      if (count > 0) for (let at = 0; at < any.length; at++) any[at]! |= lines[at]!;
    }
    let count = 0;
    for (let at = 0; at < any.length; at++) count += any[at]!;
    return count / sample.length;
  };
  return { lines: sample.length, of, share };
}

function findHits(sample: readonly string[], pattern: RegExp): Hits {
  const lines = new Uint8Array(sample.length);
  let count = 0;
  for (let at = 0; at < sample.length; at++) {
    if (!pattern.test(sample[at]!)) continue;
    lines[at] = 1;
    count++;
  }
  return { lines, count };
}
