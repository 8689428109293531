/**
 * Files that are read again because of lines left out of them: after an edit that did not find its
 * text, in part, for another question, or twice in a row. Such a read needs every line verbatim; a
 * reference to the shortened text would only lead to another one.
 */
import { createHash } from 'node:crypto';
import { fileNamesOf, writtenBy } from '../history/forget/file-writes.ts';
import { isRanged } from '../history/long/range-request.ts';
import { isEditResult } from '../repeats/edit-confirmations.ts';
import { originHints } from './block-label.ts';
import type { ConversationBlock } from './blocks.ts';

/** Longest part of an edit's result that is inspected, in characters. */
const MAX_RESULT_CHARS = 1000;

/** How editors word that the text to replace was not found. */
const NOT_FOUND =
  /\bnot (?:be )?found\b|\bno (?:\w+ ){0,3}(?:match(?:es)?|occurrences?|replacements?|changes? (?:were )?made)\b|\b(?:did|does|do)(?: not|n['’]t) (?:exactly )?(?:match|exist|appear|contain)\b|\b(?:could(?: not|n['’]t)|can(?:not|['’]t)|failed to|unable to) (?:be )?(?:find|found|locate|match|apply|edit|replace)\b|\b(?:0|zero) (?:occurrences|matches|replacements)\b/i;

/** A shell command that prints a part of a file. */
const PART_COMMAND = /\b(?:sed\b.{0,40}\d|head|tail|awk)\b/;
const COMMAND_CHARS = 2000;

/** A count of events in the conversation so far, used as a logical time. */
type LogicalTime = number;

/** A text that was sent without some of its lines. */
interface ShortenedRead {
  readonly writes: LogicalTime;
  readonly query: string;
  /** Number of results before it was last requested. */
  results: LogicalTime;
}

/**
 * Texts that a conversation showed shortened, and files with failed edits. Grows block by block.
 */
export class Shortened {
  /** By hash of the original text. */
  private readonly shortenedReads = new Map<string, ShortenedRead>();
  /** By file name. */
  private readonly shownAt = new Map<string, LogicalTime>();
  private readonly writtenAt = new Map<string, LogicalTime>();
  private readonly failedEdits = new Set<string>();
  private writes: LogicalTime = 0;
  private results: LogicalTime = 0;

  /** Returns true for a result that must be sent with every line. */
  isAskedAgain(block: ConversationBlock, query: string): boolean {
    if (block.kind !== 'tool_result' || this.failedEdits.size + this.shortenedReads.size === 0)
      return false;
    if (writesOf(block).length > 0) return false;
    const names = fileNamesOf(block);
    if (names.some((name) => this.failedEdits.has(name))) return true;
    const look = this.shortenedReads.get(hashOf(block.text));
    const isUnchanged = (name: string, since: LogicalTime): boolean =>
      since >= (this.writtenAt.get(name) ?? 0);
    if (look === undefined)
      return isPart(block) && names.some((name) => isUnchanged(name, this.shownAt.get(name) ?? -1));
    if (!names.every((name) => isUnchanged(name, look.writes))) return false;
    return look.query !== query || look.results === this.results - 1;
  }

  /** Records that a text was sent with lines left out. */
  add(block: ConversationBlock, query: string): void {
    const { writes, results } = this;
    this.shortenedReads.set(hashOf(block.text), { writes, query, results: results - 1 });
    for (const name of fileNamesOf(block)) this.shownAt.set(name, writes);
  }

  /** Records that a text was sent with every line. */
  addWhole(block: ConversationBlock): void {
    for (const name of fileNamesOf(block)) this.failedEdits.delete(name);
  }

  /**
   * Records a block before its compressed form is known: what a result says about the files its
   * call was to write.
   */
  note(block: ConversationBlock): void {
    if (block.kind !== 'tool_result') return;
    const look =
      this.shortenedReads.size === 0 ? undefined : this.shortenedReads.get(hashOf(block.text));
    if (look !== undefined) look.results = this.results;
    this.results++;
    const names = writesOf(block);
    if (names.length === 0) return;
    const isMissed =
      block.isError === true ||
      (isEditResult(block) && NOT_FOUND.test(block.text.slice(0, MAX_RESULT_CHARS)));
    if (!isMissed) this.writes++;
    for (const name of names) {
      if (isMissed) this.failedEdits.add(name);
      else this.writtenAt.set(name, this.writes);
    }
  }
}

function isPart(result: ConversationBlock): boolean {
  const { command } = originHints(result);
  return command === undefined
    ? isRanged(result.toolInput)
    : PART_COMMAND.test(command.slice(0, COMMAND_CHARS));
}

/** Returns the files that the result's call was to write. */
const writesOf = (result: ConversationBlock): readonly string[] =>
  writtenBy({ ...result, kind: 'tool_use' });

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
