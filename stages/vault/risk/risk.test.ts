import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { contentRisk, isGenerated } from './risk.ts';
import { isSecretName } from './secret-names.ts';
import { BACKENDS } from '../backends/block-index.ts';
import { inPlace } from '../../../fixtures/vault/place.ts';

const CODE = Array.from({ length: 75 }, (_, at) => `export const quagga${at} = zebra(${at} + 1);`);

test('does not take a file of ordinary length for a generated one', () =>
  inPlace(async (place) => {
    const text = `${CODE.join('\n')}\n`;
    assert.ok(text.length > 2_500 && text.length < 3_900, `${text.length}`);
    place.write('src/ordinary.ts', text);
    await place.index();
    for (const backend of BACKENDS) {
      assert.ok((await place.open(backend).search('quagga7')).length > 0, backend);
    }
    for (const length of [1_999, 2_001, 3_000, 3_999]) {
      assert.not.ok(isGenerated('a.js', 'a'.repeat(length)), `${length}`);
    }
  }));

test('takes long lines for a sign of generated code, but not in prose', () => {
  const long = `${'Some words of a paragraph that nobody wrapped. '.repeat(60)}\n`;
  assert.ok(isGenerated('bundle.js', long.repeat(3)));
  assert.ok(isGenerated('page.html', long.repeat(3)));
  for (const name of ['essay.md', 'essay.txt', 'essay.rst', 'README', 'LICENSE']) {
    assert.not.ok(isGenerated(name, long.repeat(3)), name);
  }
});

/** Returns made-up text shaped like a key of `lines` lines. */
function keyOf(lines: number): string {
  const line = (at: number): string => `quagga${at}`.padEnd(64, 'AbCdEfGhIjKlMnOp');
  const body = Array.from({ length: lines }, (_, at) => line(at)).join('\n');
  return `-----BEGIN RSA ${'PRIVATE'} KEY-----\n${body}\n-----END RSA ${'PRIVATE'} KEY-----`;
}

async function risksIn(name: string, text: string): Promise<[string, string][]> {
  const risks: [string, string][] = [];
  await inPlace(async (place) => {
    place.write(name, text);
    await place.index();
    // In JSON the letter of an escaped line break precedes the word.
    const words = Array.from({ length: 30 }, (_, at) => `${at % 2 ? 'n' : ''}quagga${at * 3}`);
    const hits = await place.open().search(`${words.join(' ')} zebra one`, {
      includeUnsafe: true,
      top: 1_000,
    });
    for (const { content, riskClass } of hits) risks.push([content, riskClass]);
  });
  return risks;
}

test('treats all blocks of a private key as secret, but not the text after it', async () => {
  const prose = 'The zebra stands behind the key.\n';
  for (const [name, text] of [
    ['dump.txt', `${'A zebra before it.\n\n'.repeat(60)}${keyOf(100)}\n\n${prose.repeat(90)}`],
    ['dump.ts', `const zebra = 1;\nconst key = \`${keyOf(100)}\`;\n${CODE.join('\n')}\n`],
    ['dump.json', JSON.stringify({ key: keyOf(100), zebra: 'w '.repeat(3_000) }, null, 2)],
    ['dump.log', `zebra\n${keyOf(100).replaceAll('\n', '\r\n')}\r\n${prose.repeat(90)}`],
  ] as const) {
    const risks = await risksIn(name, text);
    const key = risks.filter(([content]) => /quagga\d+AbCdEf/.test(content));
    assert.ok(key.length > 2, `${name}: the key is in ${key.length} blocks`);
    assert.is(key.filter(([, risk]) => risk !== 'secret').length, 0, name);
    assert.ok(
      risks.some(([, risk]) => risk !== 'secret'),
      `${name}: all of it is secret`,
    );
  }
});

test('treats a key without an end as secret to the end of its file', async () => {
  const risks = await risksIn('cut.txt', keyOf(100).slice(0, -300));
  assert.ok(risks.length > 2);
  assert.is(risks.filter(([, risk]) => risk !== 'secret').length, 0);
});

test('treats all pieces of a long line as secret if it contains a credential', async () => {
  const noise = 'zebra '.repeat(395);
  const line = `${noise}DB_PASSWORD=${'kT9$vq2!mZx4Qw'.repeat(200)} ${noise}`;
  const risks = await risksIn('one.json', `${line}\n\n${'a zebra line\n'.repeat(200)}`);
  assert.is(risks.filter(([text, risk]) => /kT9|mZx4/.test(text) && risk !== 'secret').length, 0);
  assert.ok(risks.some(([, risk]) => risk === 'safe'));
});

test('recognises copies of secret files by their names, but not documentation about them', () => {
  const secret =
    '.env~ .env-local .env.bak .vault-token .s3cfg .boto .bash_history .pgpass.bak .netrc.bak ' +
    '.npmrc~ my-credentials.json prod-secrets.yaml secrets.prod.yaml prod-passwords.txt ' +
    'app-firebase-adminsdk-x1.json local.settings.json kubeconfig kubeconfig-prod.yaml ' +
    'terraform.tfstate.backup server.key.old vault_pass.txt';
  for (const name of secret.split(' ')) assert.ok(isSecretName(name), name);
  const open =
    '.env-example .env.example .env.example~ secrets.example.yaml kubeconfig.go secrets.ts ' +
    'history.md settings.json secret-santa.md password-reset.json keys.md token-budget.yaml';
  for (const name of open.split(' ')) assert.not.ok(isSecretName(name), name);
  // Anyone may have chosen the names, so none may take long to check.
  assert.not.ok(isSecretName('a_'.repeat(120)));
});

test('recognises a credential in a block, whatever its form', () => {
  const encoded = Buffer.from(`-----BEGIN OPENSSH ${'PRIVATE'} KEY-----\nabc`).toString('base64');
  for (const text of [
    `  client-key-data: ${encoded}`,
    'Authorization: Bearer 7f3Kq9Zt1LmW8xVb2Rc5',
    'password: correct-horse-battery-staple',
    'password: correcthorsebatterystaple',
    "db.connect({ user: 'svc', password: 'quagga-on-the-river' })",
    '{"secret_key": "blue zebra".length, "secret": "my-secret-zebra-in-the-tall-grass"}',
    'DB_PASSWORD=kT9$vq2!mZx4Qw',
  ]) {
    assert.is(contentRisk(text), 'secret', text);
  }
});

test('does not report text that only mentions credentials', () => {
  const certificate = Buffer.from('-----BEGIN CERTIFICATE-----\nabc').toString('base64');
  for (const text of [
    `certificate-authority-data: ${certificate}`,
    'Authorization: Bearer <your-token-goes-here>',
    'headers.authorization = `Bearer ${sessionTokenOfUser}`',
    'const password = settings.database.password;',
    'password = load_password_from_keyring',
    'secret: kubernetesSecretReference',
    '"forgot_password": "forgot-password-page"',
    "errors.password = 'password.isRequired.message'",
    'password: process.env.DATABASE_PASSWORD',
    'The password must be at least 12 characters long.',
    'password: ${DATABASE_PASSWORD_FROM_VAULT}',
  ]) {
    assert.is(contentRisk(text), 'safe', text);
  }
});

test.run();
