/** `plugins` and `custom_providers`: the user's modules that run inside the proxy. */
import { kind, TEXT } from '../stages/settings/kind.ts';
import { setting } from '../stages/settings/setting.ts';

/** Letters, digits, - and _, as in a provider's name. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** Modules that add stages; `config` is passed to the plugin's own check. */
export const plugins = setting('plugins', {
  type: kind(
    [{ module: TEXT, 'config?': 'unknown', '+': 'reject' }, '[]'],
    'a list of maps, each with module, and config if it takes any',
  ),
  default: [],
  about:
    'Modules that bring stages of their own, each with its configuration. They run as you; one that cannot be used stops the start.',
  guarded: true,
  resolve: (list, absolute) =>
    list.map((plugin) => ({ ...plugin, module: absolute(plugin.module) })),
});

/** Modules that define a provider. */
export const customProviders = setting('custom_providers', {
  type: kind(
    [{ module: TEXT, name: NAME, '+': 'reject' }, '[]'],
    'a list of maps, each with module and a name of 1 to 64 letters, digits, - and _, and nothing else',
  ),
  default: [],
  about: 'Modules that define a provider, each with the name that it gets here. They run as you.',
  guarded: true,
  resolve: (list, absolute) =>
    list.map((provider) => ({ ...provider, module: absolute(provider.module) })),
});
