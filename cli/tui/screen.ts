/**
 * A terminal screen that is restored afterwards: the alternate screen, no cursor, no line wrap.
 * Only changed lines are written.
 */
import type { Writable } from 'node:stream';
import { forTerminal } from '../screen/colors.ts';
import { columnsOf } from '../screen/output.ts';
import type { Size } from './render.ts';

const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J';
const LEAVE = '\u001b[0m\u001b[?7h\u001b[?25h\u001b[?1049l';

export function openScreen(out: Writable) {
  let drawnLines: readonly string[] = [];
  let next: readonly string[] | undefined;
  let isWaiting = false;
  let isOpen = true;
  out.write(ENTER);

  function draw(lines: readonly string[]): void {
    if (!isOpen) return;
    if (isWaiting) {
      next = lines;
      return;
    }
    let text = '';
    // Erased first: after a line that fills its row the cursor is still on the last character.
    for (const [at, line] of lines.entries())
      if (line !== drawnLines[at])
        text += `\u001b[${at + 1};1H\u001b[2K${forTerminal(line)}\u001b[0m`;
    drawnLines = lines;
    if (text === '' || out.write(text)) return;
    isWaiting = true;
    out.once('drain', () => {
      isWaiting = false;
      if (next !== undefined) draw(next);
      next = undefined;
    });
  }

  return {
    size: (): Size => ({
      columns: columnsOf(out),
      rows: 'rows' in out && typeof out.rows === 'number' && out.rows > 0 ? out.rows : 24,
    }),
    /** Shows `lines`; a slow terminal gets only the newest. */
    draw,
    /** Forgets the current content, so that all lines are written next time. */
    clear(): void {
      drawnLines = [];
      if (isOpen) out.write('\u001b[2J');
    },
    /** Restores the terminal; further calls do nothing. */
    leave(): void {
      if (isOpen) out.write(LEAVE);
      isOpen = false;
    },
  };
}
