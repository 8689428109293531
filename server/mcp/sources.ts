/** What the MCP server reads from, whichever door a client came in by. */

export interface McpSources {
  /** Of this program. */
  readonly version: string;
  /** The home folder, where templates lie. */
  readonly home: string;
  /** False for a client of another machine: it gets no texts of conversations and no templates. */
  readonly isThisMachine: boolean;
  /**
   * Reads one of the proxy's own paths, as JSON.
   *
   * @throws SvcError as that path refuses, `unavailable` where no proxy runs.
   */
  readonly read: (path: string) => Promise<unknown>;
}
