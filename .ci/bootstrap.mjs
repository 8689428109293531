// Prepares a fresh or stale checkout: installs packages and compiles, each only
// if needed. Plain JavaScript without packages, since it runs before either.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const at = (...parts) => join(root, ...parts);
const INSTALL_STAMP = at('node_modules', '.svc-installed');
const BUILD_STAMP = at('dist', '.svc-built');
/** A longer wait without output looks like a hang. */
const ALIVE_EVERY_MS = 15_000;
/** Lines of npm's output that are shown after a failure. */
const LAST_LINES = 15;
/** Documents beside the sources that the build renders. */
const PAGES = ['README.md', 'SECURITY.md', 'CHANGELOG.md', 'CONTRIBUTING.md'];
const SOURCES = [
  'engine',
  'stages',
  'plugins',
  'server',
  'cli',
  'fixtures',
  'bench',
  'docs',
  'examples',
  'deploy',
  '.ci',
];

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function checkNode() {
  const [major, minor, patch] = process.versions.node.split('.').map(Number);
  const isOldEnough = major > 20 || (major === 20 && (minor > 18 || (minor === 18 && patch >= 1)));
  if (!isOldEnough) fail(`svc needs Node 20.18.1 or newer; this is ${process.versions.node}`);
  if (process.platform === 'win32') fail('svc runs on Linux and macOS; on Windows use WSL');
}

function fileHash(...files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest('hex');
}

function readStamp(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

function run(label, command, args) {
  process.stderr.write(`${label}…\n`);
  const startedMs = Date.now();
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) fail(`${label} failed (exit code ${status})`);
  process.stderr.write(`${label}: done in ${((Date.now() - startedMs) / 1000).toFixed(1)} s\n`);
}

/**
 * Runs npm and collects its output; prints a line now and then to show progress. Returns output and
 * exit code.
 */
function runNpm(args, env) {
  const startedMs = Date.now();
  const seconds = () => Math.round((Date.now() - startedMs) / 1000);
  const timer = setInterval(
    () => process.stderr.write(`  still working (${seconds()} s)\n`),
    ALIVE_EVERY_MS,
  );
  return new Promise((resolve) => {
    const child = spawn('npm', args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const keep = (piece) => (output += piece);
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', (error) => keep(`${error.message}\n`));
    child.on('close', (code) => {
      clearInterval(timer);
      resolve({ code, output, seconds: seconds() });
    });
  });
}

/**
 * The folder whose `include/node` has the headers of this version of Node, so that they need not be
 * downloaded.
 */
function headersFolder() {
  const folders = [dirname(dirname(process.execPath)), '/usr', '/usr/local'];
  return folders.find((folder) => {
    const file = join(folder, 'include', 'node', 'node_version.h');
    if (!existsSync(file)) return false;
    const text = readFileSync(file, 'utf8');
    const numbers = ['MAJOR', 'MINOR', 'PATCH'].map(
      (part) => new RegExp(`#define NODE_${part}_VERSION (\\d+)`).exec(text)?.[1],
    );
    return numbers.join('.') === process.versions.node;
  });
}

/** The cure for a failure of npm, by its output; undefined if only its last lines can help. */
function cureOf(output, folder) {
  if (!/gyp ERR!|node-gyp/.test(output)) return undefined;
  if (/not found: make|make: not found|find Python|g\+\+: (?:not found|No such)/i.test(output))
    return 'SQLite is compiled here: install python3, make and g++ (Debian: apt-get install python3 make g++)';
  if (folder === undefined)
    return (
      `SQLite is compiled here, and needs the headers of Node ${process.versions.node}, which could not be downloaded: ` +
      'set npm_config_nodedir to the folder whose include/node has them (an unpacked archive of that Node has)'
    );
  return undefined;
}

const wantedPackages = () => `${fileHash(at('package-lock.json'))} ${process.versions.modules}`;

/**
 * Called by npm at the end of every install (`prepare`), so that one made by hand is not repeated.
 */
function noteInstalled() {
  const isWhole = !/\bdev\b/.test(process.env.npm_config_omit ?? '');
  if (isWhole && existsSync(at('node_modules'))) writeFileSync(INSTALL_STAMP, wantedPackages());
}

async function install() {
  if (readStamp(INSTALL_STAMP) === wantedPackages()) return;
  const label = 'Installing packages (compiles SQLite once, about a minute)';
  process.stderr.write(`${label}…\n`);
  const isChosen = process.env.npm_config_nodedir !== undefined;
  const folder = isChosen ? process.env.npm_config_nodedir : headersFolder();
  const env = { ...process.env, ...(folder !== undefined && { npm_config_nodedir: folder }) };
  const { code, output, seconds } = await runNpm(['ci', '--no-audit', '--no-fund'], env);
  if (code !== 0) {
    process.stderr.write(`${output.trimEnd().split('\n').slice(-LAST_LINES).join('\n')}\n`);
    const cure = cureOf(output, folder);
    fail(`${label} failed (exit code ${code})${cure === undefined ? '' : `\n${cure}`}`);
  }
  process.stderr.write(`${label}: done in ${seconds} s\n`);
  writeFileSync(INSTALL_STAMP, wantedPackages());
}

/**
 * A hash of the name, size and change time of every source file: cheap, and any edit changes it.
 */
function sourceState() {
  const hash = createHash('sha256');
  const visit = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) visit(path);
      else if (/\.(?:tsx?|css|md|yaml)$/.test(entry.name)) {
        const { mtimeMs, size } = statSync(path);
        hash.update(`${path} ${size} ${mtimeMs}\n`);
      }
    }
  };
  for (const source of SOURCES) if (existsSync(at(source))) visit(at(source));
  const files = ['tsconfig.json', 'package-lock.json', ...PAGES].map((file) => at(file));
  hash.update(fileHash(...files.filter((file) => existsSync(file))));
  return hash.digest('hex');
}

/**
 * Deletes compiled files whose source no longer exists, so that they cannot run. The bundle stays:
 * a running proxy loads parts of it when they are first needed.
 */
function removeOrphans(folder) {
  for (const entry of readdirSync(at('dist', folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (path !== 'app') removeOrphans(path);
      continue;
    }
    const source = path.replace(/\.(?:js|d\.ts)(?:\.map)?$/, '');
    if (source === path) continue;
    if (!existsSync(at(`${source}.ts`)) && !existsSync(at(`${source}.tsx`)))
      rmSync(at('dist', path));
  }
}

function build() {
  const wanted = sourceState();
  if (readStamp(BUILD_STAMP) === wanted) return;
  run('Compiling', process.execPath, [at('node_modules', 'typescript', 'bin', 'tsc')]);
  removeOrphans('');
  run('Bundling', process.execPath, [at('dist', '.ci', 'bundle.js')]);
  writeFileSync(BUILD_STAMP, wanted);
}

// If npm is killed by SIGKILL or SIGHUP, its child would continue and keep the port. Any other
// parent may end before this process.
function endWithNpm() {
  if (process.env.npm_package_json !== at('package.json')) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  timer.unref();
}

const [entry, ...args] = process.argv.slice(2);
if (entry === '--installed') {
  noteInstalled();
  process.exit(0);
}
checkNode();
await install();
build();
if (entry !== undefined) {
  // In this process, so that no signal has to be forwarded.
  process.chdir(process.env.INIT_CWD ?? root);
  process.argv = [process.execPath, at('dist', entry), ...args];
  endWithNpm();
  await import(pathToFileURL(at('dist', entry)).href);
}
