/** The documentation as MCP resources: `svc://docs/NAME`, in Markdown. */
import type { McpServer } from '@modelcontextprotocol/server';
import { readGuides, readMarkdown } from '../docs/guide.ts';
import type { Guide } from '../docs/guide.ts';

const MARKDOWN = 'text/markdown';

/** Creates the resources; the first client causes the pages to be read. */
export function createGuideResources() {
  let reading: Promise<readonly Guide[]> | undefined;
  return {
    /** Lists every page with its one-line description. */
    async addTo(server: McpServer): Promise<void> {
      const guides = await (reading ??= readGuides());
      for (const guide of guides) {
        const { name, title, about } = guide;
        server.registerResource(
          `docs/${name}`,
          `svc://docs/${name}`,
          { title, mimeType: MARKDOWN, ...(about !== undefined && { description: about }) },
          async ({ href }) => ({
            contents: [{ uri: href, mimeType: MARKDOWN, text: await readMarkdown(guide, guides) }],
          }),
        );
      }
    },
  };
}
