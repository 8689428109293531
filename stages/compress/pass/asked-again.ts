/**
 * Files that are asked for again because of what was left out of them: behind an edit that found no such
 * text, as a part, for another question, or twice in a row. Whoever asks so needs every line to the letter,
 * and would go on asking if a reference named the shortened text.
 */
import { createHash } from 'node:crypto';
import { namedBy, writtenBy } from '../history/forget/edited.ts';
import { isRanged } from '../history/long/request-lines.ts';
import { isEditResult } from '../repeats/edit-confirmations.ts';
import { hintsOf } from './block-label.ts';
import type { ConversationBlock } from './blocks.ts';

/** Longest part of a result of an edit that is looked at, in characters. */
const SEEN = 1000;

/** In which words editors say that a text to be replaced is not there. */
const NOT_FOUND =
  /\bnot (?:be )?found\b|\bno (?:\w+ ){0,3}(?:match(?:es)?|occurrences?|replacements?|changes? (?:were )?made)\b|\b(?:did|does|do)(?: not|n['’]t) (?:exactly )?(?:match|exist|appear|contain)\b|\b(?:could(?: not|n['’]t)|can(?:not|['’]t)|failed to|unable to) (?:be )?(?:find|found|locate|match|apply|edit|replace)\b|\b(?:0|zero) (?:occurrences|matches|replacements)\b/i;

/** How a shell is asked for a part of a file. */
const PART = /\b(?:sed\b.{0,40}\d|head|tail|awk)\b/;
const COMMAND_CHARS = 2000;

/** How often something happened in the conversation so far, as a time. */
type Count = number;

/** A text that went out without some of its lines. */
interface Look {
  readonly writes: Count;
  readonly query: string;
  /** Results before the last time that it was asked for. */
  results: Count;
}

/** What a conversation showed shortened, and which files were edited in vain. Grows block by block. */
export class Shortened {
  /** By a hash of the text as it came. */
  private readonly looks = new Map<string, Look>();
  /** By the name of a file. */
  private readonly shown = new Map<string, Count>();
  private readonly written = new Map<string, Count>();
  private readonly missed = new Set<string>();
  private writes: Count = 0;
  private results: Count = 0;

  /** True for a result of which every line is to go out. */
  isAskedAgain(block: ConversationBlock, query: string): boolean {
    if (block.kind !== 'tool_result' || this.missed.size + this.looks.size === 0) return false;
    if (writesOf(block).length > 0) return false;
    const names = namedBy(block);
    if (names.some((name) => this.missed.has(name))) return true;
    const look = this.looks.get(hashOf(block.text));
    const isUnchanged = (name: string, since: Count): boolean =>
      since >= (this.written.get(name) ?? 0);
    if (look === undefined)
      return isPart(block) && names.some((name) => isUnchanged(name, this.shown.get(name) ?? -1));
    if (!names.every((name) => isUnchanged(name, look.writes))) return false;
    return look.query !== query || look.results === this.results - 1;
  }

  /** Notes that lines of a text were left out where it went out. */
  add(block: ConversationBlock, query: string): void {
    const { writes, results } = this;
    this.looks.set(hashOf(block.text), { writes, query, results: results - 1 });
    for (const name of namedBy(block)) this.shown.set(name, writes);
  }

  /** Notes that a text went out with every line. */
  addWhole(block: ConversationBlock): void {
    for (const name of namedBy(block)) this.missed.delete(name);
  }

  /** Notes a block, before what went out for it: of a result what it tells of the files that its call was to write to. */
  note(block: ConversationBlock): void {
    if (block.kind !== 'tool_result') return;
    const look = this.looks.size === 0 ? undefined : this.looks.get(hashOf(block.text));
    if (look !== undefined) look.results = this.results;
    this.results++;
    const names = writesOf(block);
    if (names.length === 0) return;
    const isMissed =
      block.isError === true || (isEditResult(block) && NOT_FOUND.test(block.text.slice(0, SEEN)));
    if (!isMissed) this.writes++;
    for (const name of names) {
      if (isMissed) this.missed.add(name);
      else this.written.set(name, this.writes);
    }
  }
}

function isPart(result: ConversationBlock): boolean {
  const { command } = hintsOf(result);
  return command === undefined
    ? isRanged(result.toolInput)
    : PART.test(command.slice(0, COMMAND_CHARS));
}

/** The files that the call of a result was to write to. */
const writesOf = (result: ConversationBlock): readonly string[] =>
  writtenBy({ ...result, kind: 'tool_use' });

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
