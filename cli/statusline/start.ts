/**
 * The program that Claude Code starts after every message: the statusline, and the whole program
 * only for arguments that it does not understand. In the package it is one CommonJS file, which
 * Node starts some 6 ms faster than a module.
 */
import { printFast } from './fast.ts';
import { readDocument } from './read-input.ts';

void printFast(process.argv.slice(2), readDocument).then(async (isPrinted) => {
  if (isPrinted) process.exit(0);
  process.argv.splice(2, 0, 'statusline');
  await import('../main.ts');
});
