import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { contentRisk } from './risk.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** Made up: `length` characters that look drawn, the same at every run. */
function made(length: number, from = LETTERS): string {
  let state = length * 7_919 + 13;
  let text = '';
  while (text.length < length) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += from[(state >> 8) % from.length]!;
  }
  return text;
}
const hex = (length: number): string => made(length, '0123456789abcdef');
const caps = (length: number): string => made(length, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789');
const base64 = (text: string): string => Buffer.from(text).toString('base64');

function allAre(risk: 'secret' | 'safe', texts: readonly string[]): void {
  assert.equal(
    texts.filter((text) => contentRisk(text) !== risk),
    [],
  );
}

test('a credential is seen by its shape, its name or the place it stands in', () => {
  allAre('secret', [
    `"Storage": "DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=${made(86)}==;EndpointSuffix=core.windows.net"`,
    `hf_${made(34)}`,
    `token hf_${made(34, 'abcdefghijklmnopqrstuvwxyz')}`,
    `Authorization: Basic dXNlcjpwYXNz`,
    `Authorization: Basic ${base64('admin:S3cret')}`,
    `https://hooks.slack.com/services/T00000000/B00000000/${made(24)}`,
    `SG.${made(22)}.${made(43)}`,
    `curl -u admin:SuperS3cret!9 https://x.y`,
    `curl --user 'bob:hunter' https://x`,
    `curl -sSu admin:hunter2x https://x`,
    `curl -uadmin:hunter2x https://x`,
    `DB_PASSWORD = "S3cr3t!"`,
    `password: hunter2`,
    `DB_PASSWORD=S3cr3t!`,
    `password='abc123'`,
    `"password": "p@ss"`,
    `const password = "letmein!";`,
    `passwd = 'tr0ub4dor'`,
    `pwd: "1234"`,
    `https://acct.blob.core.windows.net/c/b?sv=2022-11-02&ss=b&srt=sco&sp=r&sig=${made(40)}%2B${made(3)}%3D`,
    `AIza${made(35)}`,
    `dop_v1_${hex(64)}`,
    `dapi${hex(32)}`,
    `dckr_pat_${made(27)}`,
    `shpat_${hex(32)}`,
    `sq0atp-${made(22)}`,
    `sq0csp-${made(43)}`,
    `EAAA${made(60)}`,
    `SK${hex(32)}`,
    `TWILIO_AUTH_TOKEN=${hex(32)}`,
    `client('AC${hex(32)}', '${hex(32)}')`,
    `key-${hex(32)}`,
    `${hex(32)}-us12`,
    `M${made(25)}.${made(6)}.${made(38)}`,
    `https://discord.com/api/webhooks/123456789012345678/${made(68)}`,
    `123456789:AA${made(33)}`,
    `HEROKU_API_KEY=12345678-abcd-4def-8abc-1234567890ab`,
    `lin_api_${made(40)}`,
    `secret_${made(43)}`,
    `ntn_${made(46)}`,
    `figd_${made(40)}`,
    `phx_${made(43)}`,
    `sbp_${hex(40)}`,
    `rk_live_${made(24)}`,
    `sk_live_${made(24)}`,
    `whsec_${made(32)}`,
    `-----BEGIN OPENSSH ${'PRIVATE'} KEY-----`,
    `AGE-SECRET-KEY-1${made(58, 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L')}`,
    `eyJ${made(20)}.eyJ${made(30)}.${made(43)}`,
    `${made(14)}.atlasv1.${made(67)}`,
    `hvs.${made(24)}`,
    `hvs.CAESI${made(90)}`,
    `NRAK-${caps(27)}`,
    `DD_API_KEY=${hex(32)}`,
    `dd-api-key: ${hex(32)}`,
    `DATADOG_APP_KEY="${hex(40)}"`,
    `glsa_${made(32)}_${hex(8)}`,
    `dp.pt.${made(43)}`,
    `ATATT3xFfGF0${made(180)}`,
    `pypi-AgEIcHlwaS5vcmc${made(70)}`,
    `rubygems_${hex(48)}`,
    `r8_${made(37)}`,
    `gsk_${made(52)}`,
    `xai-${made(80)}`,
    `pplx-${made(48)}`,
    `ya29.${made(60)}`,
    `GOCSPX-${made(28)}`,
    `machine api.example.com login bob password hunter`,
    `machine h\n  login bob\n  password s3c`,
    `default login anonymous password foo@bar`,
    `postgres://u:pw1@db/x`,
    `redis://:S3cret@host:6379`,
    `https://${hex(40)}@github.com/x`,
    `mongodb+srv://u:p%40ss@c.mongodb.net`,
    `bob:$2y$10$${made(53)}`,
    `bob:$apr1$abcdefgh$${made(22)}`,
    `root:$6$saltsalt$${made(86)}:19000:0:99999:7:::`,
    `root:$y$j9T$${made(22)}$${made(43)}:1::`,
    `bob:{SHA}${made(27)}=`,
    `$argon2id$v=19$m=65536,t=3,p=4$${made(22)}$${made(43)}`,
    `apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ndata:\n  user: YWRtaW4=\n  pass: aHVudGVy\n`,
    `{"kind": "Secret", "data": {"a": "aGk="}}`,
    `kind: Secret\nstringData:\n  a: b`,
    `Server=db;Database=x;User Id=sa;Password=hunter;`,
    `Server=tcp:db,1433;Initial Catalog=x;Uid=sa;Pwd=abc;`,
    `host=db user=bob password=hunter dbname=x`,
    `jdbc:mysql://h/db?user=bob&password=hunter`,
    `define('DB_PASSWORD', 'S3cr3t!');`,
    `'password' => 'S3cr3t!',`,
    `<password>S3cr3t!</password>`,
    `<add key="DbPassword" value="S3cr3t!" />`,
    `IDENTIFIED BY 'hunter'`,
    `CREATE USER bob WITH PASSWORD 'hunter'`,
    `mysql -uroot -pS3cret! db`,
    `sshpass -p 'hunter' ssh x`,
    `docker login -u bob -p hunter2 reg`,
    `redis-cli -h x -a hunter2`,
    `cmd --password hunter2`,
    `cmd --api-key ${made(20)}`,
    `ENV DB_PASSWORD S3cret!9`,
    `"auth": "${base64('bob:hunter')}"`,
    `//registry.npmjs.org/:_authToken=${hex(36)}`,
    `_auth=${base64('bob:hunter')}`,
    `{"key":"x\\nghp_${made(36)}"}`,
    `aws_secret_access_key = ${made(40)}`,
    `SharedAccessSignature sr=x&sig=${made(43)}%3D&se=1`,
    `Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=${made(43)}=`,
    `abc8Q~${made(34)}`,
    `export OPENAI_KEY=${made(40)}`,
    `"encryption_key": "${made(32)}"`,
    `pscale_pw_${made(43)}`,
    `X-Api-Key: ${made(32)}`,
    `os.environ["API_KEY"] = "${made(32)}"`,
    `password is "S3cr3t!"`,
    `the password is \`S3cr3t!\``,
    `AccountKey=${made(86)}==`,
    `Authorization: token ${hex(40)}`,
    `PGPASSWORD=hunter2 psql`,
    `setPassword("S3cr3t!")`,
    `Password: S3cr3t!`,
    `passphrase: "open-sesame-1"`,
    `{\\"password\\":\\"S3cr3t!\\"}`,
    `client_secret: ${made(24)}`,
    `snyk_token=12345678-abcd-4def-8abc-1234567890ab`,
    `github_pat_${made(22)}_${made(59)}`,
    `glpat-${made(20)}`,
    `xoxb-123456789012-123456789012-${made(24)}`,
    `npm_${made(36)}`,
    `nvapi-${made(64)}`,
    `sk-proj-${made(48)}`,
    `sk-ant-api03-${made(95)}`,
    `tskey-auth-${made(12)}-${made(32)}`,
    `PMAK-${hex(24)}-${hex(34)}`,
    `s.${made(24)}`,
    `ATBB${made(32)}`,
    `dt0c01.${caps(24)}.${caps(64)}`,
    `xkeysib-${hex(64)}-${made(16)}`,
    `live_${hex(35)}`,
    `TOKEN: ${made(30)}`,
    `db_pass = hunter2`,
    `DB_PASS="hunter22"`,
    `spring.datasource.password=hunter2`,
    `requirepass S3cret!9`,
    `-----BEGIN PGP ${'PRIVATE'} KEY BLOCK-----`,
  ]);
});

test('names of credentials without a value, references to one, and what only resembles them are safe', () => {
  allAre('safe', [
    'password: string',
    'const password = getPassword();',
    'password?: string;',
    'type Password = "password" | "text"',
    'key: value',
    '"key": "ArrowDown"',
    'docker run -u 1000:1000 x',
    'git push -u origin main',
    'chown -R root:root',
    'kind: SecretProviderClass',
    'secretName: my-tls',
    'curl -u $USER:$PASS x',
    'curl -u "${USER}:${PASS}" x',
    'basic authentication is used',
    'Bearer tokens are short-lived',
    'see https://user@host/path',
    'http://localhost:8080/@scope/pkg',
    'http://a.b:80/x@1.2',
    'tokens: 1200',
    'max_tokens=4096',
    'token_type: "bearer"',
    '<input type="password" name="password">',
    'password: ${{ secrets.DB }}',
    'password: {{ .Values.password }}',
    'integrity sha512-' + made(86) + '==',
    'hash: ' + hex(64),
    'commit ' + hex(40),
    'hf_hub_download(repo_id)',
    'the author: Bob',
    'key-value store',
    'git clone git@github.com:a/b.git',
    'secretKeyRef:\n  name: x',
    'data:\n  a: b\nkind: ConfigMap',
    '`password` is required',
    'if (password === other) {',
    'password !== "test"',
    'AC and SK',
    'passwordHash: hash',
    'keyboard: true',
    'signature=abc',
    'tokenize(text)',
    "it('password', () => {})",
    "t.is(password, 'short')",
    'cacheKey: sha256(x)',
    'primaryKey: true',
    'foreign_key: user_id',
    'key={item.id}',
    'mongo --port 27017',
    'curl -H "Accept: x"',
    'npm run x -- -p 3000',
    'ssh -p 2222 host',
    'mkdir -p a/b',
    'mysql -p',
    'id: 01234567-89ab-cdef-0123-456789abcdef',
  ]);
});

test('a credential is seen wherever it stands in a block', () => {
  const words = 'A paragraph about zebras and quaggas that live on a plain. '.repeat(12);
  for (let before = 0; before < 40; before++) {
    const text = `${words.slice(0, before)} hf_${made(34)} ${words}`;
    assert.is(contentRisk(text), 'secret', `${before}`);
    assert.is(contentRisk(`${words}${'='.repeat(before)}${text}`), 'secret', `${before}`);
  }
});

test('no text takes long to judge', () => {
  for (const part of [
    'eyJaaaaaaaaaa-',
    'password',
    'key=',
    'a://b:',
    ' -u a:',
    '$2$',
    'server=',
    '====',
    'a.b-',
    'login  ',
  ]) {
    const started = performance.now();
    contentRisk(part.repeat(8_000 / part.length));
    assert.ok(performance.now() - started < 200, part);
  }
});

test.run();
