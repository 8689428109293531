import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { contentRisk } from './risk/risk.ts';
import { isSecretDir, isSecretName } from './risk/secret-names.ts';
import { PASSWORD_WORDS } from './risk/stand-in.ts';
import { inPlace } from '../../fixtures/vault/place.ts';

/** Texts that a file may contain, by file name. */
type Texts = Readonly<Record<string, readonly string[]>>;

function allAre(risk: 'secret' | 'safe', texts: Texts): void {
  const others = Object.entries(texts).flatMap(([path, all]) =>
    all.filter((text) => contentRisk(text, path) !== risk).map((text) => [path, text]),
  );
  assert.equal(others, []);
}

test('recognises the words for a password in many languages', () => {
  const words =
    'password passwort passwd passphrase passcode passord pass pwd kennwort wachtwoord lösenord loesenord mot_de_passe motdepasse contraseña contrasena senha hasło haslo heslo salasana adgangskode пароль 密码 密碼 パスワード 비밀번호 şifre'.split(
      ' ',
    );
  allAre('secret', {
    'a.yml': words.flatMap((word) => [`${word}: sommerregen`, `db_${word}: sommerregen`]),
    'a.csv': words.map((word) => `name;${word}\nanna;sommerregen\nbob;winterabend\n`),
    'a.ts': words.flatMap((word) => [
      `login(x, { ${word}: 'sommerregen' })`,
      `${word}_db = 'Xa7$k2p9'`,
    ]),
  });
  allAre('safe', { 'a.yml': words.map((word) => `password: ${word}`) });
  const unknown = PASSWORD_WORDS.filter(
    ([word]) => !words.some((one) => new RegExp(`^${word}$`, 'i').test(one)),
  );
  assert.equal(unknown, [], 'words that are not tried here');
});

test('treats the value of a password setting as secret, even if it is an ordinary word', () => {
  allAre('secret', {
    'docker-compose.yml': [
      'environment:\n  POSTGRES_PASSWORD: sommerregen\n',
      'environment:\n  - POSTGRES_PASSWORD=sommerregen\n',
      '  JWT_SECRET: mysupersecret',
      '  SECRET_KEY: supersecretkey',
      '  API_KEY: sommerregen',
      'db: {user: bob, password: hunter, port: 5}',
      '- name: POSTGRES_PASSWORD\n  value: sommerregen\n',
      'password: correct horse battery staple',
      'password: hunter # the old one',
      'Пароль: сосулька',
      'Passwort: "sommerregen"',
    ],
    'settings.json': [
      '{"password": "hunter"}',
      '{"password": 123456}',
      '{"db": {"rootPassword":"sommer"}}',
      '{"name": "DB_PASSWORD", "value": "sommerregen"}',
      '{"clientSecret": "sommerregen"}',
    ],
    'app.properties': ['spring.datasource.password=hunter', 'jwt.secret = sommerregen'],
    'odbc.ini': ['[db]\nuser = bob\npwd = hunter'],
    'run.sh': ['export MYSQL_PASSWORD=sommer', 'password=hunter', "PASS='sommer'"],
    'run.bat': ['set PASSWORD=hunter', 'setx DB_PASSWORD=hunter'],
    Dockerfile: ['ENV ROOT_PASSWORD=sommer', 'ARG SECRET_KEY=sommerregen'],
    'a.plist': ['<key>password</key>\n<string>hunter</string>'],
    'a.xml': ['<name>fs.password</name>\n<value>hunter</value>', '<db password="hunter"/>'],
    '.mailrc': ['password  hunter', 'user bob pass hunter'],
    'vpn.conf': ['poll mail.example.org user "bob" pass "hunter"'],
  });
  allAre('safe', {
    'docker-compose.yml': [
      'POSTGRES_PASSWORD: ${POSTGRES_PASSWORD}',
      'POSTGRES_PASSWORD: <your-password>',
      'POSTGRES_PASSWORD: changeme',
      'POSTGRES_PASSWORD_FILE: /run/secrets/db',
      'password: /run/secrets/db',
      'secretName: my-tls',
      'secret: kubernetesSecretReference',
      'password: !vault |',
      'password: !secret db_password',
      'password: ENC[AES256_GCM,data:abc]',
      'password: op://vault/item/field',
      'password: "{{ vault_password }}"',
      'password: string',
      'password: true',
      'password: required',
      'password: Enter your password',
      'password: the one of your account',
      'tokens: words',
      'TOKEN_TYPE: bearer',
      'MAX_TOKENS: plenty',
      'CACHE_KEY: something-long',
      'key: something-long',
      'secrets:\n  - db_password\n',
      '# the password of the database comes from the vault',
      'password: null',
    ],
    'schema.json': [
      '{"password": {"type": "string"}}',
      '{"password": "string", "type": "password"}',
      '{"password": "Password", "passwort": "Passwort", "hint": "Enter the password"}',
      '{"forgot_password": "forgot-password-page"}',
      '{"scripts": {"password": "node scripts/password.js"}}',
    ],
    'run.sh': ['password=$1', 'PASSWORD=$(pass show db)', 'read -s password', 'PASSWORD=""'],
    'main.tf': ['password = var.db_password', 'secret = aws_secretsmanager_secret.db.id'],
    'a.xml': ['<password>${db.password}</password>', '<password></password>'],
  });
});

test('recognises a password by a variable, a tag or a quoted word in any file', () => {
  allAre('secret', {
    'notes.md': [
      'Run it with MYSQL_ROOT_PASSWORD=root once.',
      'docker run -e POSTGRES_PASSWORD=sommerregen postgres',
      '```sh\nJWT_SECRET=mysupersecret npm start\n```',
      '<password>hunter</password>',
      "password: 'hunter'",
      'Passwort: Hallo123',
      'Kennwort: hunter2',
      'mot de passe : hunter2',
      'The router:\n\n- user: bob\n- **Password:** sommerregen\n',
      'Passwort: Sommerregen',
      'POSTGRES_PASSWORD: postgres',
      'WLAN-Passwort: sommerregen',
      '密码：hunter2',
      'Пароль: hunter2',
    ],
    'a.ts': [
      "login({ user: 'bob', password: 'hunter' });",
      'const password = "sommer";',
      "setPassword('sommer')",
      "define('DB_PASSWORD', 'sommer');",
    ],
    '': ["password: 'hunter'", 'MYSQL_ROOT_PASSWORD=root', 'password = hunter'],
  });
  allAre('safe', {
    'notes.md': [
      'POSTGRES_PASSWORD=<your-password>',
      'POSTGRES_PASSWORD=changeme',
      'POSTGRES_PASSWORD=$POSTGRES_PASSWORD',
      'Set `PASSWORD=` to the one that you chose.',
      'The password: it is kept in the keyring.',
      'The password is required and the token expires.',
      'A password is hashed, a secret is not.',
      'password: string',
      '- `password`: required',
      'Password: see the wiki',
      'secret: something',
      'Next token: word',
      'Das Passwort muss mindestens acht Zeichen haben.',
      'Le mot de passe est obligatoire.',
      '--- PASS: TestParseURL/12345 (0.00s)',
      'PASS: TestVectorFP32_Value',
    ],
    'a.ts': [
      "errors.password = 'required';",
      "input.type = 'password';",
      "const label = { password: 'Password' };",
      "password: 'invalid'",
      "const PASSWORD = 'PASSWORD';",
      "WRONG_PASSWORD = 'wrong-password'",
      'password: string',
      "password: 'test'",
      "scrypt('password', 'salt', 64)",
      "fields = ['password', 'username']",
      'const secret = settings.secret;',
      "  | 'secret'\n  | 'binary'\n",
      '  secret,\n  shape,\n',
    ],
    'page.html': [
      '<label for="password">Password</label>',
      '<input type="password" name="password" placeholder="Password">',
    ],
  });
});

test('recognises columns of passwords, recovery codes and seed phrases', () => {
  const words = 'witch collapse practice feed shame open despair creek road again ice least';
  allAre('secret', {
    'notes.md': [
      '| user | password |\n|---|---|\n| bob | hunter |\n| eve | sommer |',
      'Site | Login | Passwort\n--- | --- | ---\nshop | bob | sommerregen',
      'Recovery codes:\n\n1a2b-3c4d\n5e6f-7a8b\n9c0d-1e2f\n3a4b-5c6d\n',
      'Backup codes\n\n12345678 23456789\n34567890 45678901\n56789012 67890123\n78901234 89012345',
      `seed phrase: ${words}`,
      `My recovery phrase is\n\n${words
        .split(' ')
        .map((word, at) => `${at + 1}. ${word}`)
        .join('\n')}`,
      'otpauth://totp/a:bob@example.org?secret=JBSWY3DPEHPK3PXP&issuer=a',
    ],
    'logins.txt': ['name,url,username,password\nshop,https://a.example,bob,hunter'],
    'users.csv': ['username;Passwort\nbob;hunter', 'user\tpwd\nbob\t1234'],
  });
  allAre('safe', {
    'notes.md': [
      '| Field | Type |\n|---|---|\n| password | string |\n| token | string |',
      '| Method | Password | Note |\n|---|---|---|\n| ssh | no | keys |\n| web | required | x |',
      'Enter the user, the password, and a number,\nthen press, if you like, the button',
      'Recovery codes let you in when the phone is gone. Keep them in a safe.',
      'A seed phrase is made of twelve words from a list that all wallets know.',
      'The mnemonic for the instruction stands in the first column of the table.',
    ],
  });
});

test('treats table rows as secret even if the header is in another block', () =>
  inPlace(async (place) => {
    const rows = Array.from({ length: 400 }, (_, at) => `quagga${at},zebra,sommerregen`);
    place.write('people.csv', `who,where,password\n${rows.join('\n')}\n`);
    await place.index();
    const hits = await place.open().search('zebra', { includeUnsafe: true, top: 100 });
    assert.ok(hits.length > 2);
    assert.equal([...new Set(hits.map(({ riskClass }) => riskClass))], ['secret']);
  }));

test('recognises files with logins, histories and codes by their names', () => {
  const secret =
    '.vault_pass vault_pass .vault-password .ansible_vault_pass vault-pass.txt .msmtprc msmtprc .fetchmailrc ' +
    '.esmtprc .offlineimaprc .mbsyncrc my.cnf .my.cnf .mylogin.cnf pgpass.conf .histfile .zhistory .history ' +
    'fish_history .irb_history .pry_history .python_history ConsoleHost_history.txt .lesshst .viminfo ' +
    '.dockerconfigjson passwords.md my-passwords.md Passwörter.txt api_key.txt ' +
    'github-recovery-codes.txt backup-codes.md recovery_codes 2fa-backup-codes.txt seed-phrase.txt ' +
    'token.txt gh_token.txt token.json access-keys.csv private_key.txt ssh_host_rsa_key deploy_key ' +
    'work_ed25519 krb5.keytab login.keychain-db db.secret app.token wp-config.php logins.json cookies.txt ' +
    'sitemanager.xml rclone.conf bitwarden_export_2026.json shadow Zugangsdaten.txt mots-de-passe.txt';
  assert.equal(
    secret.split(' ').filter((name) => !isSecretName(name)),
    [],
  );
  for (const name of [
    'my passwords.txt',
    'passwords (1).txt',
    'passwords - Copy.txt',
    'API Key.txt',
  ])
    assert.ok(isSecretName(name), name);
  const open =
    'credentials.md keys.md api-keys.md history.md HISTORY CHANGES release_history.txt chat_history.ts ' +
    'tokens.json design-tokens.json tokens.txt token.md tokenizer.json keyboard.txt monkey.txt password.ts ' +
    'passwords.ts reset-password.md password-policy.md recovery.md backup.md codes.txt pins.csv cookies.md ' +
    'vault.md vault.ts my.ts config.json settings.xml rsa.md shadow.css id.md auth.ts login.tsx compass.md ' +
    'bypass.txt passage.md secret-santa.md';
  assert.equal(
    open.split(' ').filter((name) => isSecretName(name)),
    [],
  );
  for (const dir of ['.password-store', '.terraform.d', '.oci', 'keyrings'])
    assert.ok(isSecretDir(dir));
  for (const dir of ['vault', 'secrets-manager', 'keys', 'gcloud', 'auth'])
    assert.not.ok(isSecretDir(dir));
});

test.run();
