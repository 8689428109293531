/** Files and folders that exist to hold secrets, recognized by name: they are never opened. */

/** Deployment stages, as in `secrets.prod.yaml`. */
const STAGE_WORDS = 'prod(uction)?|stag(e|ing)|dev(elopment)?|test|local|live|qa|uat|ci|backup';
const DATA_TYPES = 'json|ya?ml|toml|ini|txt|csv';
const NOTE_TYPES = `${DATA_TYPES}|tsv|xml|html?|rtf|md|markdown|org|adoc|rst|text`;

const SECRET_NAME = new RegExp(
  [
    '^\\.env([.~_-].*)?$|\\.env$|^\\.envrc$',
    // Keys and encrypted files; a word for a secret in place of an extension.
    '\\.(pem|key|p8|p12|pfx|pkcs12|jks|jceks|bks|keystore|keytab|keychain(-db)?|kdbx?|ppk|ovpn|asc|gpg|age|tfstate|tfvars|agilekeychain|opvault)$',
    '\\.(secrets?|token|passw(or)?d|passwords?|pwd|pass|credentials?|creds?|api-?key)$',
    '^([a-z0-9]+[-_.])*(id_)?(rsa|dsa|ecdsa|ed25519)(_sk|_key)?$|^id_(rsa|dsa|ecdsa|ed25519)(_sk)?(\\..+)?$',
    '^(deploy|private|signing|encryption|ssh|master)[-_]?key(\\.txt)?$',
    // Credential files of programs.
    '^(\\.npmrc|\\.pypirc|[._]netrc|\\.?pgpass(\\.conf)?|\\.?my(login)?\\.cnf|\\.htpasswd|htpasswd|\\.git-credentials|\\.?dockercfg|\\.?dockerconfigjson)$',
    '^\\.(vault-token|s3cfg|boto|cvspass|smb-?credentials|mutt[-_]?secrets|terraformrc|gist|rediscli_auth)$',
    '^\\.?(msmtp|fetchmail|esmtp|getmail|offlineimap|mbsync|isync|ncftp|lftp|ncmpcpp)(rc)$',
    '^(credentials\\.tfrc\\.json|rclone\\.conf|wp-config\\.php|(sitemanager|recentservers|filezilla|settings-security)\\.xml|key[34]\\.db|signons\\.(sqlite|txt)|logins\\.(json|csv|txt)|cookies\\.(txt|json|sqlite)|wallet\\.(dat|json))$',
    '^(shadow|gshadow|master\\.passwd)-?$',
    // Histories: typed commands may contain passwords.
    '^\\.([a-z0-9]+[-_])*([a-z]?hist(ory|file)?)$|^_?(bash|zsh|fish|ksh|irb|pry|i?python|node_repl|psql|mysql|sqlite|mongo(sh)?|rediscli|php|lua)_history$|^consolehost_history\\.txt$|^(histfile|zhistory)$|^\\.(lesshst|viminfo)$',
    '^\\.?(aws-?|gcp-?|google-?|application_default_|client_)?(credentials?|secrets?)(\\.(json|ya?ml|toml|ini|txt|csv|xml|env|properties|enc))?$',
    `^([a-z0-9]+[-_.])*(credentials?|secrets?|passwords?)([-_.](${STAGE_WORDS}))*\\.(${DATA_TYPES})$`,
    // People's own password lists.
    `^([\\p{L}\\d]+[-_.])*(passwords|passw[oö]rter|passwort(liste)?|kennw[oö]rter|kennwort|contrase[ñn]as|senhas|mots-de-passe|wachtwoorden|hasła|пароли|zugangsdaten|zugänge)\\.(${NOTE_TYPES})$`,
    `^([\\p{L}\\d]+[-_.])*(recovery|backup|scratch|emergency|2fa|mfa|two-factor|wiederherstellungs?)[-_.]?(codes?|keys?|phrase|schlüssel)\\.(${NOTE_TYPES}|pdf)$|^([\\p{L}\\d]+[-_.])*(recovery|backup)[-_]?codes?$`,
    `^([\\p{L}\\d]+[-_.])*(seed|mnemonic|recovery|wallet)[-_.]?(phrase|words|seed)\\.(${NOTE_TYPES})$|^(mnemonic|2fa|otp|totp)\\.(${DATA_TYPES})$|^pins?\\.txt$`,
    `^([a-z0-9]+[-_.])*(api|access|auth|bearer|refresh|private|secret|license)[-_.]?(keys?|tokens?)\\.(${DATA_TYPES}|env|conf|cfg|properties)$|^([a-z0-9]+[-_.])*token\\.txt$|^keys?\\.txt$|^token\\.json$`,
    '^(chrome|firefox|edge|safari|brave|bitwarden|lastpass|1password|keepassx?c?|dashlane|nordpass|enpass)[-_.]?([a-z0-9]+[-_.])*(export|passwords?|vault|logins?)([-_.][a-z0-9]+)*\\.(csv|json|xml|txt|html?)$',
    '^(service[-_]?account|client[-_]secret|keyfile|auth|oauth[-_]?tokens?)([-_.].*)?\\.json$',
    'adminsdk.*\\.json$|^local\\.settings\\.json$|^kubeconfig([-_][^.]+)?(\\.ya?ml)?$',
    `^\\.?([a-z0-9]+[-_])*vault[-_]?pass(word)?([-_]file)?(\\.(${DATA_TYPES}|sh|py))?$`,
    '^\\.?(pass(word|wd|phrase)?|api[-_]?key)(\\.txt)?$',
  ].join('|'),
  'iu',
);
/** Suffixes of backup copies, which contain what the original file did. */
const COPY_SUFFIX = /(~|[._-](bak|backup|old|orig|save|copy|swp|tmp))+$/i;
/** Marks that desktops put before the extension of a copy. */
const COPY_MARK = /(-?\(\d{1,3}\)|-+(copy|kopie|copie)(-?\(?\d{1,3}\)?)?)(?=\.[^.]*$|$)/i;
/** Templates such as `.env.example` are documentation. */
const TEMPLATE_NAME =
  /[-._](example|sample|template|tmpl|dist|defaults?)(\.(json|ya?ml|toml|ini|env|txt))?$/i;
const SECRET_DIR =
  /^(\.(ssh|gnupg|aws|azure|kube|docker|gcloud|password-store|terraform\.d|oci|1password|op|bitwarden|keyrings|putty|gsutil|chef|pki)|keyrings|private-keys-v1\.d)$/i;

/** Returns true for a file name (without its folder) which says that the file holds credentials. */
export function isSecretName(name: string): boolean {
  const plain = name.normalize('NFC').replaceAll(/\s/g, '-');
  const original = plain.replace(COPY_SUFFIX, '').replace(COPY_MARK, '');
  if (TEMPLATE_NAME.test(original)) return false;
  return SECRET_NAME.test(original) || SECRET_NAME.test(plain);
}

/** Returns true for the name of a folder in which tools keep credentials. */
export function isSecretDir(name: string): boolean {
  return SECRET_DIR.test(name);
}
