/** The format of a client's file, by name. */
import type { FormatName } from './client.ts';
import { dotenv } from './dotenv.ts';
import { jsonc } from './jsonc.ts';
import type { TextFormat } from './text-format.ts';
import { toml } from './toml.ts';
import { yamlText } from './yaml-text.ts';

export const formats: Readonly<Record<FormatName, TextFormat>> = {
  json: jsonc,
  toml,
  yaml: yamlText,
  dotenv,
};
