/** `security.*`: admission. */
import { flag, secret, textOrList } from '../../../stages/settings/kind.ts';
import { isSwitchedOff, quote, setting } from '../../../stages/settings/setting.ts';
import { slice } from '../../../stages/settings/slice.ts';

/** A browser names a scheme, a host and a port; anything else would match no page. */
const ORIGIN = /^(?:\*|null|[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*]+\/?)$/i;

export const security = slice({
  requireApiKey: setting('security.require_api_key', {
    type: flag,
    default: false,
    about: 'Require `X-Svc-Key` from this machine too.',
    loosens: isSwitchedOff,
  }),
  apiKey: setting('security.api_key', {
    type: secret,
    default: null,
    env: ['SVC_API_KEY'],
    about:
      'Key that clients on other machines send as `X-Svc-Key`. `svc auth --generate` makes one.',
    secret: true,
    guarded: true,
  }),
  allowedOrigins: setting('security.allowed_origins', {
    type: textOrList('a list of origins, or *'),
    default: ['*'],
    guarded: true,
    about: 'Web origins allowed by CORS. `*` lets none of them use the exemption of this machine.',
    refuse: (value) =>
      [value]
        .flat()
        .filter((origin) => !ORIGIN.test(origin))
        .map((origin) => ({
          reason: `${quote(origin)} is not an origin; write https://host or https://host:port, or *`,
          expected: 'https://host',
        })),
    read: (value): readonly string[] => [value].flat(),
  }),
  trustBrowserOrigins: setting('security.trust_browser_origins', {
    type: flag,
    default: false,
    about: 'Let any web page that you open use this proxy without a key. Dangerous.',
    guarded: true,
  }),
});
