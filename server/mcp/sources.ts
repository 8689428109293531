/** The data sources of the MCP server, for every transport. */

export interface McpSources {
  /** Version of this program. */
  readonly version: string;
  /** The home folder, which contains the templates. */
  readonly home: string;
  /** False for a client on another machine: it gets no conversation texts and no templates. */
  readonly isThisMachine: boolean;
  /**
   * Reads one of the proxy's own paths, as JSON.
   *
   * @throws SvcError as that path refuses, `unavailable` if no proxy runs.
   */
  readonly read: (path: string) => Promise<unknown>;
}
