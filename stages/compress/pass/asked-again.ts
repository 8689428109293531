/**
 * Files that are read again because of lines left out of them: after an edit that did not find its
 * text, in part, for another question, or twice in a row. Such a read needs every line verbatim; a
 * reference to the shortened text would only lead to another one.
 */
import { createHash } from 'node:crypto';
import { namedBy, writtenBy } from '../history/forget/edited.ts';
import { isRanged } from '../history/long/request-lines.ts';
import { isEditResult } from '../repeats/edit-confirmations.ts';
import { hintsOf } from './block-label.ts';
import type { ConversationBlock } from './blocks.ts';

/** Longest part of an edit's result that is inspected, in characters. */
const SEEN = 1000;

/** How editors word that the text to replace was not found. */
const NOT_FOUND =
  /\bnot (?:be )?found\b|\bno (?:\w+ ){0,3}(?:match(?:es)?|occurrences?|replacements?|changes? (?:were )?made)\b|\b(?:did|does|do)(?: not|n['’]t) (?:exactly )?(?:match|exist|appear|contain)\b|\b(?:could(?: not|n['’]t)|can(?:not|['’]t)|failed to|unable to) (?:be )?(?:find|found|locate|match|apply|edit|replace)\b|\b(?:0|zero) (?:occurrences|matches|replacements)\b/i;

/** A shell command that prints a part of a file. */
const PART = /\b(?:sed\b.{0,40}\d|head|tail|awk)\b/;
const COMMAND_CHARS = 2000;

/** A count of events in the conversation so far, used as a logical time. */
type Count = number;

/** A text that was sent without some of its lines. */
interface Look {
  readonly writes: Count;
  readonly query: string;
  /** Number of results before it was last requested. */
  results: Count;
}

/**
 * Texts that a conversation showed shortened, and files with failed edits. Grows block by block.
 */
export class Shortened {
  /** By hash of the original text. */
  private readonly looks = new Map<string, Look>();
  /** By file name. */
  private readonly shown = new Map<string, Count>();
  private readonly written = new Map<string, Count>();
  private readonly missed = new Set<string>();
  private writes: Count = 0;
  private results: Count = 0;

  /** Returns true for a result that must be sent with every line. */
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

  /** Records that a text was sent with lines left out. */
  add(block: ConversationBlock, query: string): void {
    const { writes, results } = this;
    this.looks.set(hashOf(block.text), { writes, query, results: results - 1 });
    for (const name of namedBy(block)) this.shown.set(name, writes);
  }

  /** Records that a text was sent with every line. */
  addWhole(block: ConversationBlock): void {
    for (const name of namedBy(block)) this.missed.delete(name);
  }

  /**
   * Records a block before its compressed form is known: what a result says about the files its
   * call was to write.
   */
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

/** Returns the files that the result's call was to write. */
const writesOf = (result: ConversationBlock): readonly string[] =>
  writtenBy({ ...result, kind: 'tool_use' });

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
