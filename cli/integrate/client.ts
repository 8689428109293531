/**
 * The description of a client: how it is found, which file it reads, and what settings it needs
 * there.
 */
import type { KeyPath } from './text-format.ts';

/** Where svc looks for clients and their files. */
export interface ClientSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly userHome: string;
}

/** One value that a client's file needs. */
export interface Change {
  readonly path: KeyPath;
  readonly value: string | boolean;
  /** What the user should do if the file has another value there: the cure of the conflict. */
  readonly conflictCure?: string;
  /** True if the value contains the user's current one, so that replacing it loses nothing. */
  readonly includes?: true;
}

/** The required changes to a file, and remarks on related settings that stay unchanged. */
export interface RequiredChanges {
  readonly changes: readonly Change[];
  readonly remarks: readonly string[];
}

/** The current text of a client's file, empty if there is no file. */
export interface CurrentFile {
  readonly text: string;
  readonly where: ClientSurroundings;
}

export type FormatName = 'json' | 'toml' | 'yaml' | 'dotenv';

/** A settings file of a client. */
export interface ClientFile {
  /** Its path; undefined if every project has its own, which must be given. */
  readonly path?: (where: ClientSurroundings) => string;
  readonly format: FormatName;
  /** False if svc cannot know what a complete file would contain. */
  readonly mayBeCreated: boolean;
  /** Returns the changes that a file with this text requires. */
  readonly requiredChanges: (
    url: string,
    text: string,
    where: ClientSurroundings,
  ) => RequiredChanges;
  /** True if the written settings grant access: the file is then made private to the user. */
  readonly holdsSecret?: true;
  /** Recognizes values written by an earlier svc, if `requiredChanges` now returns others. */
  readonly isOwn?: (path: KeyPath, value: unknown) => boolean;
}

export interface Client {
  readonly id: string;
  readonly name: string;
  /** Other names on the command line. */
  readonly aliases: readonly string[];
  /** Programs on the path that show that it is installed. */
  readonly programs: readonly string[];
  /** Folders or files below the user's home that show the same. */
  readonly traces: readonly string[];
  readonly file?: ClientFile;
  /**
   * The required settings, as instructions for a person. `present` is what `--apply` would edit,
   * for a client whose settings depend on it.
   *
   * @throws SvcError `config` if that text cannot be read.
   */
  readonly settings: (url: string, present?: CurrentFile) => readonly string[];
  /** Further remarks for the user. */
  readonly notes: readonly string[];
  /** What `svc run` adds for it, besides the variables that every client gets. */
  readonly runAdditions?: (run: ClientRun) => RunAdditions;
  /**
   * Set for a client that reads its base URL only from its own settings. `addressFile` is a file
   * that holds the address if svc cannot write the settings.
   */
  readonly ownSettingsOnly?: { readonly addressFile?: (where: ClientSurroundings) => string };
}

/** A client about to be started. */
export interface ClientRun {
  /** Address of the proxy. */
  readonly url: string;
  /** svc's own home folder. */
  readonly home: string;
  readonly where: ClientSurroundings;
  /** The user's arguments for the client. */
  readonly rest: readonly string[];
}

export interface RunAdditions {
  /** Inserted before the user's arguments. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Returns the base URL variables of clients; each client reads the one of its dialect. */
export function clientVariables(url: string): Readonly<Record<string, string>> {
  return {
    ANTHROPIC_BASE_URL: url,
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_BASE: `${url}/v1`,
    GOOGLE_GEMINI_BASE_URL: url,
  };
}
