/**
 * What must not be indexed at all, and what may be indexed but never sent.
 *
 * By name: files that exist to hold secrets are not opened. By content: a block that looks
 * as if it held a credential is `secret`, one that a machine wrote is `generated`, and
 * every other one is `safe`. Mistakes should fall on the side of not sending.
 */
import { SAFE, type RiskClass } from './block.ts';

const SECRET_NAME = new RegExp(
  [
    '^\\.env(\\..+)?$|\\.env$|^\\.envrc$',
    '\\.(pem|key|p8|p12|pfx|jks|keystore|kdbx?|ppk|ovpn|asc|gpg|age|tfstate|tfvars)(\\.backup)?$',
    '^id_(rsa|dsa|ecdsa|ed25519)(_sk)?(\\..+)?$',
    '^(\\.npmrc|\\.pypirc|\\.netrc|_netrc|\\.pgpass|\\.my\\.cnf|\\.htpasswd|\\.git-credentials|\\.dockercfg)$',
    '^\\.?(aws-?|gcp-?|google-?|application_default_|client_)?(credentials?|secrets?)(\\.(json|ya?ml|toml|ini|txt|csv|xml|env|properties|enc))?$',
    '^(service[-_]?account|client[-_]secret|keyfile|auth|oauth[-_]?tokens?)([-_.].*)?\\.json$',
    '^(secrets?|passwords?|vault[-_]pass(word)?)\\.(json|ya?ml|toml|ini|txt|csv|kdbx)$',
  ].join('|'),
  'i',
);
/** `.env.example` and its like are documentation. */
const TEMPLATE_NAME = /\.(example|sample|template|dist|defaults?)$/i;
const SECRET_DIR = /^(\.ssh|\.gnupg|\.aws|\.azure|\.kube|\.docker|\.gcloud|\.password-store)$/i;

/** True for a file name (without its folder) that says the file holds credentials. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !TEMPLATE_NAME.test(name);
}

/** True for a folder name under which tools keep credentials. */
export function isSecretDir(name: string): boolean {
  return SECRET_DIR.test(name);
}

const CREDENTIAL = new RegExp(
  [
    '-----BEGIN [A-Z ]*PRIVATE KEY',
    '\\b(AKIA|ASIA)[0-9A-Z]{16}\\b',
    '\\bgh[opsur]_[A-Za-z0-9]{30,}|\\bgithub_pat_\\w{30,}|\\bglpat-[\\w-]{20,}',
    '\\bsk-[A-Za-z0-9_-]{20,}|\\b[rs]k_(live|test)_\\w{16,}',
    '\\bxox[abeoprs]-[\\w-]{10,}',
    '\\bAIza[\\w-]{30,}',
    '\\bnpm_[A-Za-z0-9]{30,}|\\bpypi-[\\w-]{40,}',
    '\\beyJ[\\w-]{10,}\\.eyJ[\\w-]{10,}\\.[\\w-]{10,}',
    '\\b[a-z][a-z0-9+.-]{1,15}://[^\\s:/@]{1,64}:(?![$<{*%])[^\\s:/@]{6,}@',
  ].join('|'),
);
/** An assignment to a name that says what it is; the value is judged by `looksRandom`. */
const ASSIGNMENT =
  /(?:pass(?:word|wd|phrase)|secret|token|api_?-?key|access_?-?key|private_?-?key|credential)\w*["']?\s*[:=]+\s*["']?([^\s"'`,;(){}<>]{8,})/gi;

const GENERATED =
  /@generated\b|\bdo not (edit|modify)\b.{0,80}\b(generated|by hand|manually)|\b(code|file) (is |was )?(auto-?)?generated\b|\bauto-?generated (by|file|code)/i;
const GENERATED_NAME =
  /(^|[-.])lock(\.(json|ya?ml))?$|^(package-lock|npm-shrinkwrap)\.json$|^go\.sum$|\.min\.(js|css|mjs)$|\.map$|\.snap$|\.pb\.go$|_pb2(_grpc)?\.py$/i;

/** The class of a block of text, whatever it comes from: `secret` or `safe`. */
export function contentRisk(content: string): RiskClass {
  if (CREDENTIAL.test(content)) return 'secret';
  for (const match of content.matchAll(ASSIGNMENT)) {
    if (looksRandom(match[1]!)) return 'secret';
  }
  return SAFE;
}

/** True when a whole file is machine-written: by its name, its first lines or its shape. */
export function isGenerated(name: string, text: string): boolean {
  if (GENERATED_NAME.test(name)) return true;
  const newlines = text.length < 4_000 ? 1 : text.slice(0, 100_000).split('\n').length;
  const minified = newlines > 0 && Math.min(text.length, 100_000) / newlines > 2_000;
  return minified || GENERATED.test(text.slice(0, 1_000));
}

/** True for a value that nobody would type as an example: mixed characters and few repeats. */
function looksRandom(value: string): boolean {
  if (
    /^[$%{<[]|^(process|os|env|config|self|this|ctx|req|args|options|settings)\b[.[]/.test(value)
  ) {
    return false;
  }
  if (
    /(example|sample|changeme|placeholder|your[-_]|dummy|redacted|x{4,}|\*{3,}|\.{3})/i.test(value)
  ) {
    return false;
  }
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((kind) => kind.test(value)).length;
  const distinct = new Set(value).size;
  return /\d/.test(value) && kinds >= 2 && distinct >= Math.min(8, value.length * 0.5);
}
