/**
 * The `json_blocks` backend: the log is read once, and its terms are kept in memory as postings
 * lists. Replacing a block only clears its length; a list is purged of dead blocks on its next
 * read, once it is mostly dead.
 */
import { SAFE, type BlockInfo, type StoredBlock } from '../block.ts';
import { compareInfo, type BlockIndex, type RecordLocation } from './block-index.ts';
import { blocksOf, fileKey, keyOf, type Framed, type Header } from '../log/record.ts';
import { liveCount, type Corpus } from '../search/score.ts';

interface IndexedFile {
  readonly root: string;
  readonly path: string;
  readonly blocks: number[];
}

interface Entry {
  readonly file: IndexedFile;
  readonly stored: Omit<StoredBlock, 'terms' | 'at'>;
  /** Offset in the log. */
  readonly at: number;
}

/** Creates an empty in-memory index. */
export function createMemoryIndex(): BlockIndex {
  const state = emptyState();
  const corpus: Corpus = {
    get size() {
      return state.live;
    },
    get totalLength() {
      return state.totalLength;
    },
    get allLive() {
      return state.live === state.entries.length;
    },
    get lengths() {
      return state.lengths;
    },
    postings: (term) => purgedPostings(state, term),
  };
  return {
    corpus,
    // Not shared with other processes, and each read is synchronous.
    read: (work) => work(),
    isSafe: (block) => state.entries[block]?.stored.risk === SAFE,
    info: (block) => toInfo(entryOf(state, block)),
    locate: (block): RecordLocation => {
      const { at, stored } = entryOf(state, block);
      return { at, bytes: stored.bytes };
    },
    findBlock(id) {
      const block = state.ids.get(id);
      return block === undefined ? undefined : toInfo(entryOf(state, block));
    },
    hasFile: (root, path) => state.files.has(fileKey(root, path)),
    totals: () => ({ blocks: state.live, files: countFiles(state), tokens: state.tokens }),
    list: (offset, limit) =>
      state.entries
        .flatMap((entry) => (entry === undefined ? [] : [toInfo(entry)]))
        .toSorted(compareInfo)
        .slice(offset, offset + limit),
    roots: () =>
      [...new Set([...[...state.files.values()].map(({ root }) => root), ...state.owed.keys()])]
        .filter((root) => root !== '')
        .toSorted(),
    owed: () => new Map(state.owed),
    reset: () => Object.assign(state, emptyState()),
    apply: (framed, buffer, base) => apply(state, framed, buffer, base),
    close: () => Object.assign(state, emptyState()),
  };
}

interface State {
  entries: (Entry | undefined)[];
  lengths: Int32Array;
  files: Map<string, IndexedFile>;
  ids: Map<string, number>;
  terms: Map<string, number[]>;
  owed: Map<string, number>;
  live: number;
  totalLength: number;
  tokens: number;
}

function emptyState(): State {
  return {
    entries: [],
    lengths: new Int32Array(1024),
    files: new Map(),
    ids: new Map(),
    terms: new Map(),
    owed: new Map(),
    live: 0,
    totalLength: 0,
    tokens: 0,
  };
}

function apply(state: State, framed: Framed, buffer: Buffer, base: number): void {
  const header: Header = framed.header;
  if (header.record === 'log' || header.record === 'touch') return;
  if (header.record === 'root') {
    if (header.rereadMs === undefined) state.owed.delete(header.root);
    else state.owed.set(header.root, header.rereadMs);
    return;
  }
  const blocks = blocksOf(buffer, framed);
  const key = keyOf(header, blocks);
  remove(state, key);
  if (header.record === 'drop') return;
  const root = header.record === 'file' ? header.root : '';
  const file: IndexedFile = { root, path: header.path, blocks: [] };
  state.files.set(key, file);
  for (const block of blocks) add(state, file, block, base + framed.textAt + block.at);
}

function remove(state: State, key: string): void {
  const file = state.files.get(key);
  if (file === undefined) return;
  state.files.delete(key);
  for (const block of file.blocks) {
    const { stored } = entryOf(state, block);
    state.live--;
    state.totalLength -= stored.length;
    state.tokens -= stored.tokens;
    state.lengths[block] = 0;
    state.entries[block] = undefined;
    if (state.ids.get(stored.id) === block) state.ids.delete(stored.id);
  }
}

function add(state: State, file: IndexedFile, block: StoredBlock, at: number): void {
  const number = state.entries.length;
  if (number >= state.lengths.length) {
    const larger = new Int32Array(state.lengths.length * 2);
    larger.set(state.lengths);
    state.lengths = larger;
  }
  const { terms, at: _location, ...stored } = block;
  file.blocks.push(number);
  state.entries.push({ file, stored, at });
  state.lengths[number] = block.length;
  state.ids.set(block.id, number);
  state.live++;
  state.totalLength += block.length;
  state.tokens += block.tokens;
  if (terms === '') return;
  for (const term of terms.split(' ')) addTerm(state.terms, term, number);
}

function addTerm(terms: Map<string, number[]>, counted: string, block: number): void {
  const mark = counted.indexOf('!');
  const term = mark === -1 ? counted : counted.slice(0, mark);
  const posting = block * 256 + (mark === -1 ? 1 : Number(counted.slice(mark + 1)));
  const list = terms.get(term);
  if (list !== undefined) list.push(posting);
  // Copied, since a slice would keep the whole line of terms alive.
  else terms.set(Buffer.from(term).toString(), [posting]);
}

/** Returns the postings of a term; purges the list first if it is mostly dead. */
function purgedPostings(state: State, term: string): readonly number[] {
  const list = state.terms.get(term);
  if (list === undefined) return [];
  const { lengths } = state;
  const allLive = state.live === state.entries.length;
  const live = liveCount({ allLive, lengths }, list);
  if (live * 2 >= list.length) return list;
  const kept = list.filter((posting) => lengths[posting >>> 8]! > 0);
  if (kept.length === 0) state.terms.delete(term);
  else state.terms.set(term, kept);
  return kept;
}

function entryOf(state: State, block: number): Entry {
  const entry = state.entries[block];
  if (entry === undefined) throw new RangeError(`No block has the number ${block}`);
  return entry;
}

function toInfo({ file, stored }: Entry): BlockInfo {
  return {
    id: stored.id,
    sourcePath: file.path,
    root: file.root,
    startLine: stored.from,
    endLine: stored.to,
    riskClass: stored.risk,
    hash: stored.hash,
    rawTokens: stored.tokens,
  };
}

function countFiles(state: State): number {
  let files = 0;
  for (const { root } of state.files.values()) if (root !== '') files++;
  return files;
}
