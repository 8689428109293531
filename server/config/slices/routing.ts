/** Which provider answers, and which one when that fails. */
import { setting } from '../setting.ts';
import { flag, oneOrMore, words } from '../value.ts';

/** `routing.*`; `provider` and `fallback` at the top say the same. */
export const routing = {
  'routing.primary': setting({
    type: words,
    default: null,
    defaultText: "the provider of the request's path",
    aliases: ['provider'],
    aliasesWin: true,
    about:
      'Name of the provider that answers first. Where it is of another kind than a path that counts tokens, compacts a conversation or takes a batch of them, that path answers 404 rather than send the conversation elsewhere.',
  }),
  'routing.fallback': setting({
    type: oneOrMore(words, 'provider, provider/model, or a list of them'),
    default: [],
    aliases: ['fallback'],
    about:
      'Providers that are tried in this order when the first fails, each as `provider` or `provider/model`.',
    guarded: true,
  }),
  'routing.enabled': setting({
    type: flag,
    default: true,
    env: ['SVC_ROUTER_ENABLED'],
    about: 'Let the rules of the router choose the model. Without rules it changes nothing.',
  }),
};

/** `models.<alias>.*`. */
export const models = {
  'models.<alias>.provider': setting({
    type: words,
    default: null,
    defaultText: "the provider of the request's path",
    about:
      'Provider to which conversations with this model go; a path that it does not have answers 404.',
    guarded: true,
  }),
  'models.<alias>.stream': setting({
    type: flag,
    default: true,
    about: 'Off: answers of this model are fetched whole and forwarded as one short stream.',
    guarded: true,
  }),
};
