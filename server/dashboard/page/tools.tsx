/**
 * Tokens used by tools and their MCP servers: results, and the definitions sent with every request.
 */
import type { ToolsJson } from '../contract.ts';
import { useFetched } from './fetched.ts';
import { orDash } from './format.ts';
import { toolColumns } from './requests/columns.ts';
import { queryOf } from './requests/requests-data.ts';
import { Table, withCell } from './requests/table.tsx';
import { Fault } from './message-text.tsx';

export function Tools({ query }: { readonly query: URLSearchParams }) {
  const { value, error } = useFetched<ToolsJson>(
    query.toString(),
    () => `/dashboard/api/tools?${queryOf(query).toString()}`,
  );
  return (
    <>
      <Fault text={error} />
      {value?.tools === null && (
        <p class="quiet">Sums by tool cover all requests: this filter does not apply to them.</p>
      )}
      <ToolGroups title="By tool" groups={value?.tools ?? []} />
      <ToolGroups title="By MCP server" groups={value?.mcp_servers ?? []} />
    </>
  );
}

interface ToolGroupsProps {
  readonly title: string;
  readonly groups: NonNullable<ToolsJson['tools']>;
}

function ToolGroups({ title, groups }: ToolGroupsProps) {
  if (groups.length === 0) return null;
  const header = title === 'By tool' ? 'Tool' : 'MCP server';
  const columns = withCell(toolColumns(header), header, ({ name }) => (
    <span class="tool-name">{orDash(name)}</span>
  ));
  return (
    <section class="card flush" aria-label={title}>
      <header>
        <h2>
          {title} <span class="quiet">whole UTC days; results and definitions in tokens</span>
        </h2>
      </header>
      <Table columns={columns} rows={groups} />
    </section>
  );
}
