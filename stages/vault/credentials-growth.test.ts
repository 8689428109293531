import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { minGrowth, MAX_GROWTH } from '../../fixtures/growth.ts';
import { CREDENTIAL_TEXTS, credentialText } from '../../fixtures/vault/credential-texts.ts';
import { contentRisk } from './risk/risk.ts';

const CHARS = 16_384;

for (const path of ['notes.md', 'app.conf']) {
  test(`takes at most about four times as long for four times the text: ${path}`, async () => {
    for (const [start, piece] of CREDENTIAL_TEXTS) {
      const growth = await minGrowth(
        (size) => credentialText(start, piece, size * CHARS),
        (text) => contentRisk(text, path),
      );
      assert.ok(growth < MAX_GROWTH, `${JSON.stringify(start + piece)}: ${growth} times`);
    }
  });
}

test.run();
