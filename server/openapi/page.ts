/** `/docs/api`: the OpenAPI document as a page. */
import { componentSchemas } from './components.ts';
import type { Guide } from '../docs/guide.ts';
import { API_PAGE, renderPage } from '../docs/layout.ts';
import { escapeHtml } from './html.ts';
import { forwardedOperations } from './forwarded-operations.ts';
import { ownOperations } from './own-operations.ts';
import type { Operation, Parameter } from './operation.ts';
import { toOpenApiPath } from './document.ts';
import type { Schema } from './schema.ts';

const TAGS = [
  ['Proxied', 'Forwarded to a provider'],
  ['Look', 'What the proxy reports about itself'],
  ['Vault', 'Your files as context'],
  ['Control', 'Changes to the running proxy'],
] as const;

export function apiPage(version: string, guides: readonly Guide[]): string {
  const all = [...forwardedOperations, ...ownOperations];
  const sections = TAGS.map(([tag, title]) => {
    const operations = all.filter((operation) => operation.tag === tag);
    return `<section aria-labelledby="${tag}">\n<h2 id="${tag}">${title}</h2>\n${operations.map(operationHtml).join('\n')}\n</section>`;
  });
  const links = all.map(
    (operation) =>
      `<li><a href="#${anchorOf(operation)}"><code>${withBreaks(escapeHtml(nameOf(operation)))}</code></a>`,
  );
  const main = `<h1 id="api">HTTP interface <small class="dim">${escapeHtml(version)}</small></h1>
<p>Every path that this proxy answers; the same as <a href="/openapi.yaml">OpenAPI 3.0</a>.
<p>From this machine nothing is needed besides the provider's own key. From elsewhere, and from web
pages, every request needs <code>X-Svc-Key</code>, except where <span class="key">public</span> stands.
<nav aria-label="Paths"><ul>
${links.join('\n')}
</ul></nav>
${sections.join('\n')}
`;
  const parts = TAGS.map(([id, title]) => ({ id, title }));
  return renderPage({ title: 'HTTP interface', name: API_PAGE, main, parts }, guides);
}

function nameOf({ method, path }: Operation): string {
  return `${method.toUpperCase()} ${toOpenApiPath(path)}`;
}

function anchorOf({ method, path }: Operation): string {
  return `${method}${path.replaceAll(/[^A-Za-z0-9]+/g, '-')}`.replace(/-$/, '');
}

function operationHtml(operation: Operation): string {
  const { method, path, summary, description, parameters = [], request, response = {} } = operation;
  const errors = operation.errors ?? [];
  const bodies = Object.entries(response).map(
    ([type, schema]) => `<h4>Answers <code>${type}</code></h4>\n${schemaHtml(schema)}`,
  );
  return `<details id="${anchorOf(operation)}">
<summary><b>${method.toUpperCase()}</b> <code>${escapeHtml(toOpenApiPath(path))}</code>${
    operation.isPublic === true ? ' <span class="key">public</span>' : ''
  }<span>${renderCode(summary)}</span></summary>
<div class="inside">
${description === undefined ? '' : `<p>${renderCode(description)}`}
${parameters.length === 0 ? '' : `<h4>Parameters</h4>\n${parametersHtml(parameters)}`}
${request === undefined ? '' : `<h4>Body</h4>\n${schemaHtml(request)}`}
${bodies.join('\n')}
${errors.length === 0 ? '' : `<p class="dim">Own error statuses: ${errors.join(', ')}`}
</div>
</details>`;
}

function parametersHtml(parameters: readonly Parameter[]): string {
  const rows = parameters.map(
    ({ name, in: location, description }) =>
      `<tr><td><code>${escapeHtml(name)}</code><td class="dim">${location}<td>${renderCode(description)}`,
  );
  return `<table>${rows.join('\n')}</table>`;
}

/** Renders the fields of a schema, including those of nested objects. */
function schemaHtml(schema: Schema): string {
  const rows = fieldRows(schema, '', 0);
  if (rows.length === 0) return `<p class="dim">${typeText(schema)}`;
  return `<table>${rows.join('\n')}</table>`;
}

const MAX_DEPTH = 5;

function fieldRows(given: Schema, prefix: string, depth: number): string[] {
  const schema = resolveRef(given);
  if (depth > MAX_DEPTH) return [];
  const choices = schema['oneOf'] as readonly Schema[] | undefined;
  if (choices !== undefined) return fieldRows(choices[0]!, prefix, depth);
  const items = schema['items'] as Schema | undefined;
  if (items !== undefined) return fieldRows(items, `${prefix}[].`.replace('.[]', '[]'), depth);
  const values = schema['additionalProperties'];
  if (typeof values === 'object' && values !== null)
    return fieldRows(values as Schema, `${prefix}<name>.`, depth);
  const fields = (schema['properties'] ?? {}) as Readonly<Record<string, Schema>>;
  return Object.entries(fields).flatMap(([name, field]) => {
    const inner = resolveRef(field);
    const words = inner['description'];
    const row = `<tr><td><code>${escapeHtml(prefix + name)}</code><td class="dim">${typeText(inner)}<td>${
      typeof words === 'string' ? renderCode(words) : ''
    }`;
    return [row, ...fieldRows(inner, `${prefix}${name}.`, depth + 1)];
  });
}

function resolveRef(schema: Schema): Schema {
  const target = schema['$ref'];
  return typeof target === 'string' ? (componentSchemas[target.split('/').at(-1)!] ?? {}) : schema;
}

function typeText(schema: Schema): string {
  const { type, enum: values, nullable, format } = schema;
  const word = Array.isArray(values)
    ? values.map((value) => escapeHtml(String(value))).join(' | ')
    : typeof type === 'string'
      ? type
      : 'any';
  const typeName = format === 'date-time' ? 'ISO 8601' : word;
  return nullable === true ? `${typeName} or null` : typeName;
}

/** Allows long paths to wrap between segments. */
function withBreaks(path: string): string {
  return path.replaceAll(/[/:](?=\w)/g, '<wbr>$&');
}

/** Renders words in backticks as code. */
function renderCode(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}
