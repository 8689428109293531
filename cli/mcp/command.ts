/** `svc mcp`: the MCP server on stdin and stdout, for the client that starts it. */
import type { Readable } from 'node:stream';
import { Command } from 'clipanion';
import { SvcCommand } from '../command.ts';
import { readOwn } from '../remote.ts';
import { isTerminal } from '../screen/output.ts';

class Mcp extends SvcCommand {
  static override paths = [['mcp']];
  static override usage = Command.Usage({
    category: 'Run',
    description: 'Show usage, limits and your files to agents, by MCP',
    details:
      'Serves the Model Context Protocol on stdin and stdout until stdin ends. Clients start it (Claude Code after `claude mcp add svc -- svc mcp`); it queries the proxy of this home folder, and changes nothing.',
    examples: [['What a client starts', '$0 mcp']],
  });

  async execute() {
    const { stdin, stdout, stderr, version } = this.context;
    const { home } = this;
    const [{ createMcpServers }, { StdioServerTransport, serveStdio }] = await Promise.all([
      import('../../server/mcp/server.ts'),
      import('@modelcontextprotocol/server/stdio'),
    ]);
    if ('isTTY' in stdin && isTerminal(stderr))
      this.note('This speaks MCP. `claude mcp add svc -- svc mcp` lets Claude Code start it.');
    const ended = endOf(stdin);
    const sources = {
      version,
      home,
      isThisMachine: true,
      read: (path: string) => readOwn(home, path),
    };
    const served = serveStdio(createMcpServers(sources), {
      transport: new StdioServerTransport(stdin, stdout),
    });
    await ended;
    await served.close();
  }
}

/** Some kinds of stdin end but never close. */
function endOf(stdin: Readable): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ['end', 'close', 'error']) stdin.once(event, () => resolve());
  });
}

export const commands = [Mcp];
