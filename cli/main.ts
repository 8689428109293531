#!/usr/bin/env node
/**
 * The entry point of the command line. `svc statusline` runs too often to load the whole program
 * for it.
 */
import { fileURLToPath } from 'node:url';

const [, , word, ...rest] = process.argv;

async function start(): Promise<void> {
  if (word === 'statusline' && process.platform !== 'win32') {
    const { printFast } = await import('./statusline/fast.ts');
    if (await printFast(rest)) return process.exit(0);
  }
  const { runProgram } = await import('./program.ts');
  runProgram(fileURLToPath(import.meta.url));
}

void start();
