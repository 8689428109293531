/**
 * Scores how much a log line says about a failure. One table of weighted patterns; the sum of a
 * line's matches is its score. Based on how build tools, test runners and CI systems word failures,
 * not on any single log.
 */

type Weighted = readonly [weight: number, pattern: RegExp];

/** Longest part of a line that is scored, in characters. */
const MAX_SCORED_CHARS = 500;

/** A line with at least this weight states a failure, whatever harmless phrase is beside it. */
const FAILURE_WEIGHT = 7;

/** Error wordings of programs in other languages, split by whether they need non-ASCII letters. */
const FOREIGN_FAILURE =
  /\bfehler|fehlgeschlagen|gescheitert|nicht gefunden|konnte nicht|\berror(?:es|e)\b|\berreurs?\b|\bimpossible (?:de\b|d['’])|introuvable|\bimpossibile|\bfallit[oa]|non trovat[oa]|no se pudo|no se encuentra|\berros?\b|\bfalha|\bfalhou|\bchyba\b|selhal|nelze|\bfout\b|mislukt|\bvirhe|misslyckades|\bhata\b/i;
const FOREIGN_FAILURE_NON_ASCII =
  /\bfall[oó]\b|échec|échoué|não (?:foi possível|encontrad)|błąd|nie można|nie udało|epäonnistui|başarısız|lỗi|ошибк|не удалось|сбой|помилк|не найден|错误|錯誤|失败|失敗|无法|無法|异常|找不到|エラー|できません|見つかりません|오류|실패|없습니다|خطأ|فشل|שגיאה|त्रुटि/i;
// oxlint-disable-next-line no-control-regex -- all that is not ASCII
const NON_ASCII = /[^\u0000-\u007f]/;

const FAILURE: readonly Weighted[] = [
  [
    10,
    /##\[error\]|^::error|^npm (?:ERR!|error)|\bELIFECYCLE\b|^\s*error(?:\[\w+\])?:|^E {3,}\S|^\s*fatal:/,
  ],
  [
    9,
    /\b(?:Traceback \(most recent|panicked at|Segmentation fault|core dumped|OutOfMemory|OOMKilled|SIGSEGV|SIGKILL|SIGABRT|AddressSanitizer|undefined reference|subprocess-exited-with-error)/,
  ],
  [
    9,
    /^\s*(?:FAIL(?:ED|URE|URES)?|ERROR|FATAL|CRITICAL)\b|^\s*--- FAIL|^not ok\b|\[(?:FAIL(?:ED)?|ERROR|FATAL)\]|\bFAIL[:!]|\bFAILED\b|[✗✕✘×❌] /,
  ],
  [
    9,
    /\b(?:level|lvl|severity|loglevel)"?[:=] ?"?(?:err(?:or)?|fatal|crit(?:ical)?|emerg\w*|alert|panic|severe|[56]0)\b|^[EF]\d{4} \d\d:/i,
  ],
  [8, /\b(?:ERROR|FATAL|CRITICAL|EMERG(?:ENCY)?|SEVERE|PANIC)\b/],
  [
    8,
    /out of memory|\boom[-_]?(?:kill|reap)|no space left|\bdisk (?:is )?full|quota exceeded|\bI\/O error|bus error|segfault|page fault|(?:by|received|got) signal|signal \d+\b|stack overflow|deadlock|core dump/i,
  ],
  [8, /\b[A-Z]\w*(?:Error|Exception|Failure|Fault|NotFound)\b(?!\.(?:py|js|ts|go|rs)\b)/],
  [8, FOREIGN_FAILURE],
  [8, FOREIGN_FAILURE_NON_ASCII],
  [
    8,
    /: (?:fatal )?error\b|\berror (?:TS|CS|C|LNK|MSB|E)\d+|\berror [\w-]+\/[\w-]+|^\s*error {1,3}\S|\bpanic:|^\s*\d+:\d+ +error\b/i,
  ],
  // The failed statement within its context: pytest, and tools that print code frames.
  [8, /^> {3,}\S|^ {0,4}> {1,4}\d+ \| /],
  [
    7,
    /\b(?:exit(?:ed)?(?: with)?(?: exit)? (?:code|status) ?[:=]? ?[1-9]\d*|returned [1-9]\d*\b|exit [1-9]\d*$|return ?code:? [1-9])/i,
  ],
  [
    6,
    /\b(?:assert(?:ion)?(?: |$)|assertion failed|expected|timed? ?out|timeout (?:of|after|exceeded)|permission denied|access denied|not accessible|unauthorized|forbidden|no such file|cannot|can't|could not|couldn't|unable to|not found|missing|invalid|unexpected|unresolved|refused|rejected|conflict|mismatch|incompatible|violat\w+|HTTP [45]\d\d|\b[45]\d\d (?:Forbidden|Not Found|Unauthorized|Internal))\b/i,
  ],
  [
    5,
    /\b(?:fail(?:s|ed|ing|ure|ures)?|errors?|abort(?:ed|ing)?|killed|crash(?:ed)?|broken|denied|stopped|fatal|critical|overflow|corrupt(?:ed|ion)?)\b/i,
  ],
];

const SUMMARY: readonly Weighted[] = [
  [
    9,
    /\b[1-9]\d* (?:tests? )?(?:failed|failures?|errors?|broken)\b|\bfail(?:ed|ures)?[:=] ?[1-9]/i,
  ],
  [
    7,
    /^\s*(?:=+ .{0,160}\b(?:passed|failed|error).{0,60} =+$|Ran \d+ |Tests?:? +\d|Test Suites:|test result:|Summari[sz]|short test summary|BUILD |Finished in|failures:|\s*Failures?:|FAIL\t|DONE \d)|\b\d+ (?:tests? )?(?:passed|passing|failing)\b|\b\d+ of \d+ \w+ failed/i,
  ],
  [6, /^(?:=+ (?:FAILURES|ERRORS) =+|_{3,} .{1,160} _{3,}$|-{4,} .{1,160} -{4,}$|• |●)/],
];

const LOCATION: readonly Weighted[] = [
  [4, /(?:^|[\s("'[])(?:[\w.@-]*\/)*[\w.@-]+\.[A-Za-z]\w{0,5}[:(]\d+/],
  [3, /^\s*(?:--> |File "|at .{1,200}:\d+)|\bon \S{1,200} line \d/],
  [4, /^\s*(?:left|right|expected|actual|received|got|want)\b ?[:=]|^\s*\d{1,3}\) \S/i],
  [2, /^\s*(?:\d+ \||\||> ?\d* ?\||\^|~{2,}|\+ |- ).{0,3}\S/],
  [3, /^(?:##\[group\]|\[command\]|\+ \S|\$ \S|> \S|Run \S|::group::|make: \*\*\*|ninja:|FAILED:)/],
  [
    3,
    /^(?:Caused by|During handling of|The above exception|note: |help: |hint: |warning: unused|Reason:|Error: |stderr|stdout)/i,
  ],
  [1, /\bwarn(?:ing)?s?\b/i],
];

/** Phrases that look like a failure but are not; they are ignored when the line is scored. */
const BENIGN: readonly RegExp[] = [
  /\b(?:no|0|zero|without(?: any)?) (?:tests? )?(?:error|failure|fail|failed|warning|conflict|issue|problem)s?\b/gi,
  /\b(?:errors?|fail(?:ed|ures)?|failures|skipped)[:=] ?0\b/gi,
  /(?:if-no-files-found|continue-on-error|fail[-_]fast|fail[-_]ci[-_]if[-_]error|fail[-_]on|ignore[-_]error|error[-_]?format|allow[-_]fail\w*|-Werror|-Wno-error|RUST_BACKTRACE|set -e\w*|pipefail|errexit)(?:[:= ]+\w+)?/gi,
];

/** Steps of package managers and compilers, which succeed unless the line says otherwise. */
const STEP =
  /^\s*(?:Compiling|Checking|Downloaded|Downloading|Installing|Collecting|Unpacking|Setting up|Adding|Fetching|Get:\d+|Requirement already|Using cached|Preparing|Selecting|Created wheel|copying|creating|adding|Building wheel|Updating|Locking|Cloning)\b/;
const STEP_FAILED =
  /\b(?:failed|failure|not found|denied|refused|cannot|could not|unable to|timed out|aborted)\b|\berrors?: |: error\b/i;
const PASSED =
  /^\s*(?:[✓✔√]|ok \d|ok\b|PASS(?:ED)?\b|--- PASS|=== RUN|=== CONT|=== PAUSE|test \S+ \.\.\. ok|\S+ PASSED\b)|\.\.\. (?:ok|PASS(?:ED)?|skipped.{0,60})$|\bPASSED +\[ *\d+%\]$/;

/** Lines that are almost never worth reading after a failure. */
const NOISE =
  /\b\d{1,3}(?:\.\d+)?% |\[=*>? *\]|━━|█|^\s*(?:remote: (?:Counting|Compressing|Enumerating)|Receiving objects|Resolving deltas|\* \[new (?:branch|tag)\]|hint: )|\bkB\/s\b|\bMB\/s\b|^\s*at (?:node:internal|async Promise\.all)|site-packages\/(?:pip|_pytest|pluggy)\b/;

/**
 * Matches at least the lines that `FAILURE` matches: most log lines fail this test, and one pattern
 * is faster than eight.
 */
const SUSPICIOUS =
  /err|fail|fatal|exce|fault|panic|assert|expect|tim(?:ed|e ?out)|denied|access|authori|forbidden|no such|no space|can(?:no|'|’)t|could|unable|found|missing|invalid|unexp|resolved|refused|reject|conflict|mismatch|compatible|violat|abort|kill|crash|broken|stopped|exit|return|traceback|dump|memory|oom|disk|quota|sig(?:nal|segv|kill|abrt)|overflow|deadlock|corrupt|sanitizer|undefined|critical|crit"|emerg|severe|alert|elifecycle|E {3}|not ok|^> {3}|^ *> +\d+ \| |[✗✕✘×❌]/i;
/** Numbers with the same meaning: log levels, and the status of a response. */
const SUSPICIOUS_NUMBER = /[:=] ?[56]0\b|^[EF]\d{4} |\b[45]\d\d\b/i;

const sum = (rules: readonly Weighted[], line: string): number =>
  rules.reduce((max, [weight, pattern]) => (weight > max && pattern.test(line) ? weight : max), 0);

/**
 * Returns true if a line has a word used to state failures: few do, and only those are scored in
 * full.
 */
export function isSuspicious(line: string): boolean {
  const text = line.length > MAX_SCORED_CHARS ? line.slice(0, MAX_SCORED_CHARS) : line;
  return hasInformativeNumber(text) || hasInformativeWord(text);
}

/** Returns true if the text contains one of those words, whatever its numbers are. */
export function hasInformativeWord(text: string): boolean {
  return (
    SUSPICIOUS.test(text) ||
    FOREIGN_FAILURE.test(text) ||
    (NON_ASCII.test(text) && FOREIGN_FAILURE_NON_ASCII.test(text))
  );
}

/** Returns true if a number may be a log level or the status of a failed response. */
export function hasInformativeNumber(text: string): boolean {
  return SUSPICIOUS_NUMBER.test(text);
}

/**
 * Scores one line without its time stamp: about −4 (noise) to 24 (a failure with its position).
 * `suspicious` is `isSuspicious(line)`, for callers that already know it.
 */
export function scoreLine(line: string, suspicious = isSuspicious(line)): number {
  const text = line.length > MAX_SCORED_CHARS ? line.slice(0, MAX_SCORED_CHARS) : line;
  if (text.trim() === '') return -3;
  if (isHarmless(text)) return -2;
  const scored = suspicious ? withoutBenign(text) : text;
  const failure = suspicious ? sum(FAILURE, scored) : 0;
  const summary = sum(SUMMARY, scored);
  if (scored !== text && Math.max(failure, summary) < FAILURE_WEIGHT) return -2;
  const location = sum(LOCATION, text);
  const noise = NOISE.test(text) ? -5 : 0;
  return Math.max(failure, summary) + Math.min(failure, summary) / 3 + location + noise;
}

function isHarmless(text: string): boolean {
  return PASSED.test(text) || (STEP.test(text) && !STEP_FAILED.test(text));
}

function withoutBenign(text: string): string {
  return BENIGN.reduce((rest, pattern) => rest.replace(pattern, ' '), text);
}

/** Returns true if a line states a failure outright: such lines are never noise. */
export function isFailure(score: number): boolean {
  return score >= 8;
}

/** A line of carets or tildes that points at a part of the line above. */
const POINTER = /^[ \t|]*[~^][\s~^-]*$/;

/** Returns true if a line only points at a part of the one above it. */
export function isPointer(line: string): boolean {
  return POINTER.test(line.length > MAX_SCORED_CHARS ? line.slice(0, MAX_SCORED_CHARS) : line);
}

const STAMP =
  /^(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]? ?|\[\d\d:\d\d:\d\d(?:\.\d+)?\] ?|\d\d:\d\d:\d\d(?:[.,]\d{1,9})? |[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d |\[ *\d+\.\d+\] ?)/;

/** Returns the length of the time stamp at the start of a line, 0 where there is none. */
export function stampLength(line: string): number {
  return STAMP.exec(line.length > 60 ? line.slice(0, 60) : line)?.[0].length ?? 0;
}

/** Strips the variable parts of a line: lines with the same template have the same content. */
export function templateOf(line: string): string {
  return line
    .slice(0, 200)
    .replace(/0x[0-9a-f]+|\b[0-9a-f]{7,40}\b|\d+/gi, '#')
    .trim();
}
