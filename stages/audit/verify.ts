/** Walks the chain and finds the first record that was changed, moved or removed. */
import { SvcError } from '../../engine/index.ts';
import { openToRead, readAnchor, readKey } from './files.ts';
import type { AuditFiles } from './files.ts';
import type { AuditLine } from './lines.ts';
import { readLines } from './lines.ts';
import type { AuditRecord, ChainEnd } from './record.ts';
import { EMPTY_CHAIN, openRecord } from './record.ts';

/** The fault, and its place. */
export interface AuditFault {
  readonly what: 'edited' | 'removed' | 'inserted' | 'swapped' | 'truncated' | 'anchor' | 'key';
  /** Line of the log, from 1; null for a fault without a line. */
  readonly line: number | null;
  /** Number of the record, if known. */
  readonly seq: number | null;
  /** The whole fault as one sentence. */
  readonly text: string;
}

export interface AuditVerdict {
  /** Valid records before the first fault. */
  readonly records: number;
  readonly firstSeq: number | null;
  readonly lastSeq: number | null;
  /** The record that the anchor names. */
  readonly anchoredSeq: number | null;
  /** Pruned records, according to the start of the log. */
  readonly pruned: number;
  /** True if a crash cut the last line short; the next record replaces it. */
  readonly hasTornTail: boolean;
  /** Notable findings that are not faults. */
  readonly warnings: readonly string[];
  readonly fault: AuditFault | undefined;
}

/** Called with a valid record and its line. */
export type Visit = (record: AuditRecord, line: AuditLine) => void;

/**
 * Verifies the log and visits each valid record before the first fault. It may run while others
 * append or prune. Throws `not_found` if there is neither a log nor an anchor.
 */
export async function verifyAudit(files: AuditFiles, visit: Visit = () => undefined) {
  const key = await readKey(files);
  // Read before the log: a record is written before its anchor, so the log contains the anchored
  // one.
  const anchor = key && (await readAnchor(files, key));
  const log = await openToRead(files.log);
  try {
    if (log === undefined && anchor === undefined)
      throw new SvcError('not_found', 'There is no audit log', {
        cure: 'A proxy that runs with `audit: { enabled: true }` starts one.',
      });
    const walk = new ChainWalk(key ?? NO_KEY, anchor);
    if (key === undefined)
      walk.fail('key', null, `${files.key} is missing: nothing can be verified`, null);
    else if (log !== undefined) {
      for await (const line of readLines(log)) if (!walk.take(line, visit)) break;
      if (walk.isGap)
        for await (const { bytes } of readLines(log)) walk.findMissing(openRecord(key, bytes));
    }
    return walk.verdict(files);
  } finally {
    await log?.close();
  }
}

const NO_KEY: Buffer = Buffer.alloc(0);

class ChainWalk {
  /** True if records are missing or misplaced. */
  isGap = false;
  readonly #key: Buffer;
  readonly #anchor: ChainEnd | 'forged' | undefined;
  readonly #warnings: string[] = [];
  #end = EMPTY_CHAIN;
  #line = 0;
  #records = 0;
  #firstSeq: number | null = null;
  #pruned = 0;
  #hasTornTail = false;
  #isAnchored: boolean;
  #fault: AuditFault | undefined;

  constructor(key: Buffer, anchor: ChainEnd | 'forged' | undefined) {
    this.#key = key;
    this.#anchor = anchor;
    this.#isAnchored = typeof anchor === 'object' && anchor.seq === 0;
  }

  /** False once there is a fault. */
  take(line: AuditLine, visit: Visit): boolean {
    this.#line += 1;
    if (!line.isWhole) {
      this.#hasTornTail = true;
      return true;
    }
    const record = openRecord(this.#key, line.bytes);
    const expected = this.#end.seq + 1;
    if (record === undefined) {
      const text = `Line ${this.#line}, where record ${expected} belongs, was edited or is not a record`;
      return this.fail('edited', expected, text);
    }
    if (record.kind === 'start' && this.#line === 1) this.#start(record);
    else if (!this.#extendChain(record, expected)) return false;
    if (!this.#checkAnchor(record)) return false;
    if (record.kind !== 'start') {
      this.#records += 1;
      this.#firstSeq ??= record.seq;
    }
    if (record.kind === 'audit' && record.event === 'anchor renewed')
      this.#warnings.push(
        `The anchor was missing and was recreated with record ${record.seq}; it is not known whether earlier records were cut off`,
      );
    visit(record, line);
    return true;
  }

  #start(record: AuditRecord): void {
    this.#pruned = record.seq;
    this.#end = { seq: record.seq, mac: record.prev };
  }

  #extendChain(record: AuditRecord, expected: number): boolean {
    const { seq, prev, mac } = record;
    if (seq > expected) {
      this.isGap = true;
      const which = seq === expected + 1 ? `${expected}` : `${expected} to ${seq - 1}`;
      const text = `Line ${this.#line} holds record ${seq}: record ${which} was removed`;
      return this.fail('removed', expected, text);
    }
    if (seq < expected || prev !== this.#end.mac) {
      const text = `Line ${this.#line} holds record ${seq}, which does not follow record ${expected - 1}`;
      return this.fail('inserted', seq, text);
    }
    this.#end = { seq, mac };
    return true;
  }

  #checkAnchor({ seq }: AuditRecord): boolean {
    const anchor = this.#anchor;
    if (typeof anchor !== 'object' || anchor.seq !== seq) return true;
    if (anchor.mac !== this.#end.mac)
      return this.fail('anchor', seq, `Record ${seq} is not the one that was anchored`);
    this.#isAnchored = true;
    return true;
  }

  /** Reports a missing record as swapped if it is elsewhere in the log. */
  findMissing(record: AuditRecord | undefined): void {
    const missing = this.#fault;
    if (record === undefined || record.seq !== missing?.seq || missing.what !== 'removed') return;
    const text = `Line ${missing.line}: record ${missing.seq} is at another place in the log`;
    this.#fault = { ...missing, what: 'swapped', text };
  }

  verdict(files: AuditFiles): AuditVerdict {
    if (this.#fault === undefined && !this.#isAnchored) this.#judgeEnd(files);
    const anchor = this.#anchor;
    return {
      records: this.#records,
      firstSeq: this.#firstSeq,
      lastSeq: this.#records === 0 ? null : this.#end.seq,
      anchoredSeq: typeof anchor === 'object' ? anchor.seq : null,
      pruned: this.#pruned,
      hasTornTail: this.#hasTornTail,
      warnings: this.#warnings,
      fault: this.#fault,
    };
  }

  /** Records the fault if the log has ended without the anchored record. */
  #judgeEnd({ headFile }: AuditFiles): void {
    const { seq } = this.#end;
    const failUnknown = (how: string): false => {
      const text = `${headFile} ${how}; it is not known whether records were cut off`;
      return this.fail('anchor', null, text, null);
    };
    if (this.#anchor === undefined) failUnknown('is missing');
    else if (this.#anchor === 'forged') failUnknown('was edited');
    else if (this.#anchor.seq > seq) {
      const which =
        this.#anchor.seq === seq + 1
          ? `record ${seq + 1} was`
          : `records ${seq + 1} to ${this.#anchor.seq} were`;
      const text = `The log ends after record ${seq}: ${which} cut off`;
      this.fail('truncated', seq + 1, text, null);
    } else {
      const text = `The log begins after record ${this.#anchor.seq}, which was anchored`;
      this.fail('anchor', this.#anchor.seq, text, null);
    }
  }

  /** Records the fault and ends the walk. */
  fail(
    what: AuditFault['what'],
    seq: number | null,
    text: string,
    line: number | null = this.#line,
  ): false {
    this.#fault = { what, line, seq, text };
    return false;
  }
}
