/** Browser script of the documentation pages: search, and copy buttons. */
import { search } from '../search.ts';
import type { SearchIndex } from '../search.ts';

const COPIED_MS = 1500;

const field = document.querySelector<HTMLInputElement>('#search');
const list = document.querySelector<HTMLElement>('#found');
let reading: Promise<SearchIndex> | undefined;

async function readIndex(): Promise<SearchIndex> {
  const response = await fetch('/docs/search.json');
  if (!response.ok) throw new Error(`search.json: ${response.status}`);
  return (await response.json()) as SearchIndex;
}

function element(name: string, text: string): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

async function show(query: string): Promise<void> {
  if (list === null) return;
  if (query.trim() === '') {
    list.hidden = true;
    return;
  }
  const index = await (reading ??= readIndex());
  // The query has changed since; a newer result follows.
  if (field?.value !== query) return;
  const found = search(index, query);
  const links = found.map(({ href, page, title, excerpt }) => {
    const link = document.createElement('a');
    link.href = href;
    link.append(element('b', title === page ? page : `${page}: ${title}`));
    link.append(element('span', excerpt));
    return link;
  });
  list.replaceChildren(...(links.length > 0 ? links : [element('p', 'Nothing found')]));
  list.hidden = false;
}

/** Moves through the search results; down from the field, and back up. */
function move(step: number): void {
  const links = [...(list?.querySelectorAll('a') ?? [])];
  const at = links.findIndex((link) => link === document.activeElement);
  const next = at + step;
  if (next < 0) field?.focus();
  else links[Math.min(next, links.length - 1)]?.focus();
}

function close(): void {
  if (list !== null) list.hidden = true;
  field?.blur();
}

field?.addEventListener('input', () => {
  show(field.value).catch(() => {
    reading = undefined;
    list?.replaceChildren(element('p', 'Search needs a running proxy that lets you in'));
    if (list !== null) list.hidden = false;
  });
});

document.addEventListener('keydown', (event) => {
  const isTyping = document.activeElement === field;
  if (event.key === '/' && !isTyping) {
    event.preventDefault();
    field?.focus();
  } else if (event.key === 'Escape') close();
  else if (list?.hidden !== false) return;
  else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    move(event.key === 'ArrowDown' ? 1 : -1);
  } else if (event.key === 'Enter' && isTyping) list.querySelector('a')?.click();
});

document.addEventListener('click', ({ target }) => {
  if (target instanceof Node && !list?.contains(target) && target !== field && list !== null)
    list.hidden = true;
});

for (const block of document.querySelectorAll<HTMLElement>('main pre')) {
  const text = block.textContent ?? '';
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', () => {
    void navigator.clipboard.writeText(text.trimEnd()).then(() => {
      button.textContent = 'Copied';
      setTimeout(() => (button.textContent = 'Copy'), COPIED_MS);
    });
  });
  const frame = document.createElement('div');
  frame.className = 'copy';
  block.replaceWith(frame);
  frame.append(block, button);
}
