/**
 * `routing.*`, `models.*` and `rate_limiting.*`: which provider answers, and how often it is
 * called.
 */
import { count, flag, textOrList, textKind } from '../settings/kind.ts';
import { isRaised, quote, setting } from '../settings/setting.ts';
import { each, slice } from '../settings/slice.ts';

export const routing = slice({
  /** null means: by the path of the request. */
  primary: setting('routing.primary', {
    type: textKind,
    default: null,
    defaultText: "the provider of the request's path",
    aliases: ['provider'],
    aliasesWin: true,
    about:
      'Name of the provider that answers first. Where it is of another kind than a path that compacts a conversation or takes a batch of them, that path answers 404 rather than send the conversation elsewhere; a path that counts tokens does so where it is of kind chat.',
  }),
  fallback: setting('routing.fallback', {
    type: textOrList('provider, provider/model, or a list of them'),
    default: [],
    aliases: ['fallback'],
    about:
      'Providers that are tried in this order when the first fails, each as `provider` or `provider/model`.',
    guarded: true,
    refuse: (value) =>
      [value]
        .flat()
        .filter((target) => target.endsWith('/'))
        .map((target) => ({
          reason: `${quote(target)} names no model; write a provider, or provider/model`,
          expected: 'provider/model',
        })),
    read: (value): readonly string[] => [value].flat(),
  }),
  enabled: setting('routing.enabled', {
    type: flag,
    default: true,
    env: ['SVC_ROUTER_ENABLED'],
    about: 'Let the rules of the router choose the model. Without rules it changes nothing.',
  }),
  /** By model name. */
  models: each(
    'models',
    {
      provider: setting('models.<alias>.provider', {
        type: textKind,
        default: null,
        defaultText: "the provider of the request's path",
        about:
          'Provider to which conversations with this model go; a path that it does not have answers 404.',
        guarded: true,
        example: 'chat',
      }),
      stream: setting('models.<alias>.stream', {
        type: flag,
        default: true,
        about: 'Off: answers of this model are fetched whole and forwarded as one short stream.',
        guarded: true,
      }),
    },
    (model) => model,
  ),
  /** Requests per minute by provider. */
  rpm: each(
    'rate_limiting',
    {
      rpm: setting('rate_limiting.<provider>.rpm', {
        type: count('requests a minute', 1),
        default: null,
        defaultText: 'no limit',
        about: 'Requests a minute to this provider; further ones wait in a queue.',
        loosens: isRaised,
      }),
    },
    ({ rpm }) => rpm,
  ),
});
