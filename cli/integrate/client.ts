/** What is known of a client: how it is found, which file it reads, and what has to stand there. */
import type { KeyPath } from './text-format.ts';

/** Where clients and their files are looked for. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly userHome: string;
}

/** One value that a client's file must have. */
export interface Change {
  readonly path: KeyPath;
  readonly value: string | boolean;
  /** What to do where something else of the user's stands there; a sentence. */
  readonly instead?: string;
}

/** What has to change in a file, and what of it stays although it could be meant. */
export interface Wanted {
  readonly changes: readonly Change[];
  readonly remarks: readonly string[];
}

export type FormatName = 'json' | 'toml' | 'yaml' | 'dotenv';

/** A settings file of a client. */
export interface ClientFile {
  /** Where it is; undefined where every project has its own, which must be named. */
  readonly path?: (where: Surroundings) => string;
  readonly format: FormatName;
  /** False where svc cannot know what a whole file would have to say. */
  readonly mayBeCreated: boolean;
  /** For a text with `format`'s reader at hand. */
  readonly wanted: (url: string, text: string, where: Surroundings) => Wanted;
  /** True where what is written lets its reader in: the file is then made the user's alone. */
  readonly holdsSecret?: true;
  /** Recognises what an earlier svc wrote, where `wanted` would say something else by now. */
  readonly isOwn?: (path: KeyPath, value: unknown) => boolean;
}

export interface Client {
  readonly id: string;
  readonly name: string;
  /** Other words for it on the command line. */
  readonly aliases: readonly string[];
  /** Programs on the path that show that it is installed. */
  readonly programs: readonly string[];
  /** Folders or files that show the same, below the user's home. */
  readonly traces: readonly string[];
  readonly file?: ClientFile;
  /** What has to be set, as a person would write or click it. */
  readonly settings: (url: string) => readonly string[];
  /** What a person should know besides. */
  readonly notes: readonly string[];
  /** What `svc run` adds for it, beside the variables that every client gets. */
  readonly runWith?: (run: ClientRun) => RunAdditions;
  /**
   * True for a client that reads its base URL from its own settings alone. `names` is a file that
   * holds the address where svc cannot write the settings.
   */
  readonly ownSettingsOnly?: { readonly names?: (where: Surroundings) => string };
}

/** A client that is about to be started. */
export interface ClientRun {
  /** Where the proxy is. */
  readonly url: string;
  /** svc's own home folder. */
  readonly home: string;
  readonly where: Surroundings;
  /** The arguments that the user gives to it. */
  readonly rest: readonly string[];
}

export interface RunAdditions {
  /** They stand before the user's. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The variables by which clients find a base URL; each reads those of its own dialect. */
export function clientVariables(url: string): Readonly<Record<string, string>> {
  return {
    ANTHROPIC_BASE_URL: url,
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_BASE: `${url}/v1`,
    GOOGLE_GEMINI_BASE_URL: url,
  };
}
