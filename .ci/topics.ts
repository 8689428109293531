/**
 * The pages of `docs` as blocks of plain text, for `svc help <topic>`. They are parsed by the
 * build, so that the program needs no Markdown.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked } from 'marked';
import type { Token, Tokens } from 'marked';
import type { Block, Topic } from '../cli/parse/topics.ts';
import { guideFiles } from './guides.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Returns every user page of `docs`, except their list. */
export function readTopics(): Topic[] {
  return [...guideFiles()]
    .filter(([file, name]) => /^docs\/[^/]+$/.test(file) && name !== 'index')
    .map(([file, name]) => {
      const tokens = new Marked().lexer(readFileSync(join(root, file), 'utf8'));
      return { name, blocks: tokens.flatMap((token) => blocksOf(token, 0)) };
    });
}

function blocksOf(token: Token, depth: number): Block[] {
  switch (token.type) {
    case 'heading':
      return [{ kind: 'heading', level: token.depth, text: inline(token.tokens ?? []) }];
    case 'paragraph':
    case 'text': {
      const text = inline('tokens' in token ? (token.tokens ?? []) : [token]);
      // A paragraph that is just a picture leaves nothing.
      return text === '' ? [] : [{ kind: 'text', depth, text }];
    }
    case 'code':
      return [{ kind: 'code', depth, lines: token.text.split('\n') }];
    case 'list':
      return token.items.flatMap((item: Tokens.ListItem, at: number) =>
        itemBlocks(item, depth, token.ordered ? `${Number(token.start) + at}.` : '-'),
      );
    case 'table':
      return [
        {
          kind: 'table',
          header: token.header.map(({ tokens }: Tokens.TableCell) => inline(tokens)),
          rows: token.rows.map((row: Tokens.TableCell[]) =>
            row.map(({ tokens }) => inline(tokens)),
          ),
        },
      ];
    case 'space':
    case 'hr':
    case 'html':
      return [];
    default:
      throw new Error(`svc help has no text for a ${token.type}: ${token.raw}`);
  }
}

/** Returns the blocks of a list item; its first text follows its mark. */
function itemBlocks(item: Tokens.ListItem, depth: number, mark: string): Block[] {
  const [first, ...rest] = item.tokens.flatMap((token) => blocksOf(token, depth + 1));
  if (first?.kind !== 'text') throw new Error(`an item without text: ${item.raw}`);
  return [{ kind: 'item', depth, mark, text: first.text }, ...rest];
}

/**
 * Returns plain text: links by their words, code in backticks, line breaks as spaces, no pictures.
 */
function inline(tokens: readonly Token[]): string {
  return tokens
    .map((token): string => {
      if (token.type === 'br') return ' ';
      if (token.type === 'html' || token.type === 'image') return '';
      if (token.type === 'escape') return token.raw.slice(1);
      if ('tokens' in token && token.tokens !== undefined) return inline(token.tokens);
      return token.raw;
    })
    .join('')
    .replaceAll(/\s*\n\s*/g, ' ');
}
