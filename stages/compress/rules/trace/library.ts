/**
 * Which stack frames belong to a library: those with files where packages are installed, those of a
 * language's own runtime, and those of well-known containers and test runners unless the project is
 * one itself. Names alone (`runtime/`, `vendor/`, `org.apache.`) prove nothing: a project's own
 * code has them too.
 */

/** Where package managers and language installers put code; either slash. */
const INSTALLED = new RegExp(
  [
    String.raw`[\\/](?:site-packages|dist-packages|node_modules)[\\/]|^\s*at .{0,200}\bnode_modules[\\/]`,
    String.raw`[\\/]lib(?:64)?[\\/]python\d|\\Python\d+\\[Ll]ib\\|<frozen `,
    String.raw`\bnode:|\(internal\/(?:modules|process|main|bootstrap|timers|streams|util)\b[\w/]{0,100}\.js:`,
    String.raw`[\\/]\.cargo[\\/](?:registry|git)[\\/]|[\\/]\.rustup[\\/]|\/rustc\/[0-9a-f]`,
    String.raw`\/pkg\/mod\/|\/usr\/(?:local\/)?(?:lib|lib64|go)\/|\/nix\/store\/`,
    String.raw`\/vendor\/(?:bundle|cache|[\w-]{1,60}\.(?:com|org|io|in|net|dev|sh))\/`,
    String.raw`\/gems\/[\w-]{1,80}-\d|\/lib\/ruby\/\d`,
  ].join('|'),
);

const JAVA = String.raw`^\s*at (?:[\w.$-]{1,80}(?:@[\w.+-]{1,40})?\/)?(?:[\w.-]{0,80}\/)?`;
/** Platform code: Java's and its languages' own packages, .NET's threads. */
const PLATFORM = new RegExp(
  String.raw`${JAVA}(?:java|javax|jdk|sun|com\.sun|kotlin|kotlinx|scala|groovy\.lang)\.|^\s*at System\.(?:Threading|Runtime)\.`,
);
/**
 * Containers and test runners that call a project; libraries that the project calls are not listed.
 */
const FRAMEWORK = new RegExp(
  String.raw`${JAVA}(org\.springframework|org\.hibernate|org\.junit|org\.gradle|org\.apache\.(?:catalina|coyote|tomcat|maven))\.`,
);
/** A placeholder for frames that were printed elsewhere. */
const ELIDED_FRAMES = /^\s*\.\.\. \d+ more/;

/**
 * Returns true for a frame in installed code; `own` are the families the project itself may belong
 * to.
 */
export function isLibraryCall(line: string, own: ReadonlySet<string>): boolean {
  if (INSTALLED.test(line) || PLATFORM.test(line)) return true;
  const family = FRAMEWORK.exec(line)?.[1];
  return family !== undefined && !own.has(family);
}

/** Returns true for `... 23 more`. */
export function isElidedFrames(line: string): boolean {
  return ELIDED_FRAMES.test(line);
}

/**
 * Returns the framework families that a text may be about: that of each stack's first frame outside
 * the platform, and one with more than half of all such frames.
 */
export function ownFamilies(stacks: readonly (readonly string[])[]): ReadonlySet<string> {
  const own = new Set<string>();
  const counts = new Map<string, number>();
  let all = 0;
  for (const stack of stacks) {
    const calls = stack.filter((line) => !PLATFORM.test(line) && !isElidedFrames(line));
    all += calls.length;
    const families = calls.map((line) => FRAMEWORK.exec(line)?.[1]);
    if (families[0] !== undefined) own.add(families[0]);
    for (const family of families)
      if (family !== undefined) counts.set(family, (counts.get(family) ?? 0) + 1);
  }
  for (const [family, count] of counts) if (count * 2 > all) own.add(family);
  return own;
}
