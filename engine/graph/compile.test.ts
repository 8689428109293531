import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { chain, compile, describePlan, run } from '../index.ts';
import type { Graph, Insertion, Stage } from '../index.ts';
import { createCollectingSink, mustCompile, testRun } from '../../fixtures/engine/run.ts';
import {
  ASK,
  answerOf,
  reader,
  stage,
  testKinds,
  wholeAnswerer,
} from '../../fixtures/engine/frames.ts';
import type { TestFrame } from '../../fixtures/engine/frames.ts';

const mark = (name: string) =>
  stage(name, { on: { part: ({ text }) => ({ kind: 'part', text: `${text} ${name}` }) } });

const nodeNamed = (name: string) =>
  stage(name, { on: { question: ({ words }) => ({ kind: 'question', words: [...words, name] }) } });

function insertion(name: string, where: Partial<Insertion<TestFrame>>): Insertion<TestFrame> {
  return { stage: nodeNamed(name), plugin: 'p', ...where };
}

async function answerWith(graph: Graph<TestFrame>, insertions: readonly Insertion<TestFrame>[]) {
  const sink = createCollectingSink<TestFrame>();
  await run(mustCompile(graph, { insertions }), { kind: 'ask', text: 'q' }, testRun(), sink);
  return sink.frames.flatMap((frame) => (frame.kind === 'part' ? [frame.text] : []));
}

test('insertions are placed before or after a node, sorted by order, then by plugin', async () => {
  const graph = chain(testKinds, [reader, wholeAnswerer]);
  const words = await answerWith(graph, [
    insertion('late', { after: 'read', order: 5 }),
    insertion('b', { after: 'read', plugin: 'beta' }),
    insertion('a', { after: 'read', plugin: 'alpha' }),
    insertion('first', { after: 'read', order: -1 }),
    insertion('y', { before: 'answer', order: 2 }),
    insertion('x', { before: 'answer', order: 1 }),
  ]);
  assert.equal(words, ['q', 'first', 'a', 'b', 'late', 'x', 'y']);
});

test('an insertion may refer to the node of another one, in either order', () => {
  const graph = chain(testKinds, [reader, wholeAnswerer]);
  const insertions = [
    insertion('last', { after: 'first' }),
    insertion('first', { before: 'second' }),
    insertion('second', { before: 'answer' }),
  ];
  const { plan } = compile(graph, { insertions });
  assert.equal(
    plan?.requestPath.map(({ name }) => name),
    ['read', 'first', 'last', 'second', 'answer'],
  );
  const misplaced = [...insertions, insertion('lost', { before: 'ghost' })];
  const { faults } = compile(graph, { insertions: misplaced });
  assert.equal(
    faults.map(({ fault, insertion: of }) => [fault, of?.target]),
    [['unknown_node', 'ghost']],
  );
});

test('an inner node receives no frames, is timed by the stage around it and is listed below it', async () => {
  const around = stage(
    'answer',
    {
      on: {
        question(_, ctx) {
          ctx.inner?.('tool')?.recordFrame(1, 4);
          assert.is(ctx.inner?.('other'), undefined);
          return answerOf('a');
        },
      },
    },
    { answers: true },
  );
  const graph = chain(testKinds, [reader, around, mark('log')]);
  const within = [insertion('tool', { within: 'answer', about: ['one'] })];
  const plan = mustCompile(graph, { insertions: within });
  const { request } = describePlan(plan);
  assert.equal(
    request.map(({ node, inner }) => [node, inner]),
    [
      ['read', []],
      ['answer', [{ node: 'tool', plugin: 'p', about: ['one'] }]],
      ['log', []],
    ],
  );
  const sink = createCollectingSink<TestFrame>();
  const { spans } = await run(plan, { kind: 'ask', text: 'q' }, testRun(), sink);
  const list = spans().list();
  assert.equal(
    list.map((span) => [span.node, span.within]),
    [
      ['read', undefined],
      ['answer', undefined],
      ['tool', 'answer'],
      ['log', undefined],
    ],
  );
  const tool = list.find(({ node }) => node === 'tool');
  assert.equal([tool?.frames, tool?.busyMs], [1, 3]);
  const { faults } = compile(graph, {
    insertions: [
      insertion('lost', { within: 'nowhere' }),
      insertion('both', { within: 'answer', before: 'answer' }),
      ...within,
      insertion('tool', { before: 'answer' }),
    ],
  });
  assert.equal(
    faults.map(({ fault }) => fault),
    ['unknown_node', 'bad_insertion', 'duplicate_node'],
  );
});

test('a stage inserted before the entry receives the first frame', async () => {
  const upper = stage('upper', {
    on: { ask: ({ text }) => ({ kind: 'ask', text: text.toUpperCase() }) },
  });
  const graph = chain(testKinds, [reader, wholeAnswerer]);
  assert.equal(await answerWith(graph, [{ stage: upper, before: 'read', plugin: 'p' }]), ['Q']);
});

test('a node that answers only some requests has an edge for each case', async () => {
  const cache = stage(
    'cache',
    { on: { question: ({ words }) => (words.includes('hit') ? answerOf('cached') : undefined) } },
    { answers: true },
  );
  const graph: Graph<TestFrame> = {
    kinds: testKinds,
    entry: 'read',
    nodes: [reader, cache, wholeAnswerer, mark('store'), mark('count')].map((each) => ({
      name: each.name,
      stage: each,
    })),
    edges: [
      { from: 'read', to: 'cache' },
      { from: 'cache', on: 'request', to: 'answer' },
      { from: 'cache', on: 'response', to: 'count' },
      { from: 'answer', to: 'store' },
      { from: 'store', to: 'count' },
    ],
  };
  const partsFor = async (text: string) => {
    const sink = createCollectingSink<TestFrame>();
    await run(mustCompile(graph), { kind: 'ask', text }, testRun(), sink);
    return sink.frames.flatMap((frame) => (frame.kind === 'part' ? [frame.text] : []));
  };
  assert.equal(await partsFor('hit'), ['cached count']);
  assert.equal(await partsFor('miss'), ['miss store count']);
});

test('all faults are reported, not only the first', () => {
  const graph: Graph<TestFrame> = {
    kinds: testKinds,
    entry: 'nowhere',
    nodes: [reader, reader, wholeAnswerer].map((each) => ({ name: each.name, stage: each })),
    edges: [
      { from: 'read', to: 'ghost' },
      { from: 'read', to: 'answer' },
      { from: 'answer', to: 'read' },
    ],
  };
  const { plan, faults } = compile(graph);
  assert.is(plan, undefined);
  const kinds = new Set(faults.map((fault) => fault.fault));
  assert.equal(kinds, new Set(['duplicate_node', 'unknown_node', 'duplicate_edge', 'cycle']));
  assert.ok(faults.some((fault) => fault.message.includes('read → answer → read')));
});

const faultsOf = (graph: Graph<TestFrame>, insertions: readonly Insertion<TestFrame>[] = []) =>
  compile(graph, { insertions }).faults.map((fault) => fault.fault);

test('a graph that never answers, or has a node that no path reaches, does not compile', () => {
  assert.ok(faultsOf(chain(testKinds, [reader])).includes('never_answers'));
  const graph = chain(testKinds, [reader, wholeAnswerer]);
  const island = {
    ...graph,
    nodes: [...graph.nodes, { name: 'island', stage: stage('island', {}) }],
  };
  assert.equal(faultsOf(island), ['unreachable']);
});

test('a handler for frames that never reach its stage is reported as a fault', () => {
  assert.equal(faultsOf(chain(testKinds, [mark('early'), reader, wholeAnswerer])), [
    'kind_mismatch',
  ]);
  assert.equal(faultsOf(chain(testKinds, [reader, wholeAnswerer, nodeNamed('late')])), [
    'kind_mismatch',
  ]);
});

test('an insertion next to an unknown or ambiguous node is a fault that names its plugin', () => {
  const graph = chain(testKinds, [reader, wholeAnswerer]);
  const { faults } = compile(graph, {
    insertions: [
      insertion('a', { after: 'ghost' }),
      insertion('b', { after: 'read', before: 'answer' }),
      insertion('c', {}),
    ],
  });
  assert.equal(faults.map((fault) => fault.fault).toSorted(), [
    'bad_insertion',
    'bad_insertion',
    'unknown_node',
  ]);
  assert.ok(faults.every((fault) => fault.message.includes("'p'")));
});

test('a second node of a name is left out, and only its plugin is reported', () => {
  const graph = chain(testKinds, [reader, wholeAnswerer]);
  const { faults } = compile(graph, {
    insertions: [
      insertion('read', { before: 'answer' }),
      insertion('twice', { after: 'read', plugin: 'alpha' }),
      insertion('twice', { before: 'answer', plugin: 'beta' }),
    ],
  });
  assert.equal(faults.map(({ message }) => message).toSorted(), [
    "Plugin 'alpha' inserts a node 'twice', and so does 'beta'",
    "Plugin 'p' inserts a node 'read', and the graph has one",
  ]);
});

test('the splitter follows the answering stage if a stage needs events, and stages that replace them', async () => {
  const splitter = mark('split');
  const needy = stage('needy', { watch: { part: () => undefined } }, { needs: 'events' });
  const text = async (...stages: readonly Stage<TestFrame>[]) => {
    const sink = createCollectingSink<TestFrame>();
    const plan = mustCompile(chain(testKinds, stages, splitter));
    await run(plan, ASK, testRun(), sink);
    return [
      plan.needsEvents,
      sink.frames.flatMap((frame) => (frame.kind === 'part' ? [frame.text] : []))[0],
    ];
  };
  assert.equal(await text(reader, wholeAnswerer, mark('x')), [false, 'one x']);
  assert.equal(await text(reader, wholeAnswerer, needy, mark('x')), [true, 'one split x']);
  assert.equal(await text(reader, wholeAnswerer, mark('x'), needy), [true, 'one split x split']);
  const again = { ...needy, name: 'again' };
  assert.equal(await text(reader, wholeAnswerer, needy, again), [true, 'one split']);
  assert.equal(await text(reader, wholeAnswerer, needy, mark('x'), again), [
    true,
    'one split x split',
  ]);
  assert.equal(faultsOf(chain(testKinds, [reader, wholeAnswerer, needy])), ['no_splitter']);
});

test('a plan is frozen', () => {
  const plan = mustCompile(chain(testKinds, [reader, wholeAnswerer]));
  assert.throws(() => Object.assign(plan, { lastKind: 'open' }));
  assert.throws(() => Object.assign(plan.nodes, { 0: undefined }));
});

test.run();
