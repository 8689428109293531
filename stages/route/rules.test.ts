import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isSvcError } from '../../engine/index.ts';
import { checkRule } from './rules-check.ts';
import { createLiveRouter, usableRules } from './rules-router.ts';
import { createRuleStore } from './rules-store.ts';
import { isGlobMatch, parseTarget, toRuleSet } from './rules.ts';
import type { RouteFacts, RouteRule } from './rules.ts';

const rule = (id: string, more: Partial<RouteRule> = {}): RouteRule => ({
  id,
  priority: 0,
  target: `p/${id}`,
  ...more,
});
const facts = (more: Partial<RouteFacts> = {}): RouteFacts => ({
  model: 'claude-big-1',
  inputTokens: 1000,
  hasTools: false,
  hasThinking: false,
  budgetLeftPercent: null,
  ...more,
});
const first = (rules: RouteRule[], more: Partial<RouteFacts> = {}): string | undefined =>
  toRuleSet(rules).match(facts(more))?.id;

test('the first matching rule applies, by priority and then by age', () => {
  assert.is(first([rule('a'), rule('b')]), 'a');
  assert.is(first([rule('a'), rule('b', { priority: 5 })]), 'b');
  assert.is(first([rule('a', { priority: 9, hasTools: true }), rule('b')]), 'b');
  assert.is(first([]), undefined);
});

test('all conditions of a rule must hold', () => {
  const cases: [Partial<RouteRule>, Partial<RouteFacts>, boolean][] = [
    [{ model: 'claude-*' }, {}, true],
    [{ model: 'CLAUDE-???-1' }, {}, true],
    [{ model: 'gpt-*' }, {}, false],
    [{ model: '*' }, { model: undefined }, false],
    [{ prefix: 'Claude-b' }, {}, true],
    [{ prefix: 'claude-*' }, {}, false],
    [{ prefix: 'claude', model: '*-2' }, {}, false],
    [{ minTokens: 1000, maxTokens: 1000 }, {}, true],
    [{ minTokens: 1001 }, {}, false],
    [{ maxTokens: 999 }, {}, false],
    [{ hasTools: true }, { hasTools: true }, true],
    [{ hasTools: false }, { hasTools: true }, false],
    [{ hasThinking: true }, {}, false],
    [{ budgetBelowPercent: 20 }, {}, false],
    [{ budgetBelowPercent: 20 }, { budgetLeftPercent: 20 }, false],
    [{ budgetBelowPercent: 20 }, { budgetLeftPercent: 19.9 }, true],
  ];
  for (const [conditions, more, isMatch] of cases) {
    const matched = first([rule('a', conditions)], more);
    assert.is(matched, isMatch ? 'a' : undefined, JSON.stringify([conditions, more]));
  }
});

test('a glob matches like the equivalent regular expression', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?', '.', '['), maxLength: 10 });
  fc.assert(
    fc.property(letters, letters, (glob, text) => {
      const source = Array.from(glob, (c) => (c === '*' ? '[^]*' : c === '?' ? '[^]' : `\\${c}`));
      const pattern = source.join('').replaceAll('\\a', 'a').replaceAll('\\b', 'b');
      assert.is(isGlobMatch(glob, text), new RegExp(`^${pattern}$`).test(text));
    }),
    { numRuns: 2000 },
  );
  assert.is(isGlobMatch('a*'.repeat(100), `${'a'.repeat(20_000)}bc`), true);
  assert.is(isGlobMatch(`${'a*'.repeat(100)}z`, 'a'.repeat(20_000)), false);
});

test('a target is a provider and a model, which may contain slashes', () => {
  assert.equal(parseTarget('router/vendor/model-1'), {
    provider: 'router',
    model: 'vendor/model-1',
  });
  for (const bad of ['', 'p', '/m', 'p/']) assert.is(parseTarget(bad), undefined);
});

test('all faults of an invalid rule are reported', () => {
  const context = { providers: ['p', 'q'], ids: ['taken'] };
  const faults = (value: unknown): readonly string[] => {
    const checked = checkRule(value, context);
    return checked.ok ? [] : checked.faults;
  };
  assert.equal(faults({ id: 'a', target: 'p/m' }), []);
  assert.equal(faults({ id: 'a b', target: 'p', minTokens: -1, hasTools: 'yes', priority: 1.5 }), [
    'id: found "a b", expected letters, digits, _ and -, at most 64 of them',
    'minTokens: found -1, expected a whole number of tokens, from 0',
    'hasTools: found "yes", expected true or false',
    'priority: found 1.5, expected a whole number; the highest is tried first',
    'target: found "p", expected provider/model',
  ]);
  assert.equal(faults({ id: 'taken', target: 'x/m', minTokens: 5, maxTokens: 4 }), [
    "id: there is a rule 'taken' already",
    'minTokens 5 is above maxTokens 4',
    "target: there is no provider 'x'; there are p, q",
  ]);
  assert.match(
    faults({ id: 'a', target: 'p/m', modle: 'x' })[0]!,
    /^modle is not a field of a rule/,
  );
  assert.equal(faults({}).length, 2);
  for (const value of [null, [], 'x', 3]) assert.match(faults(value)[0]!, /^a rule is an object/);
});

function inMemory(text?: string): {
  text: string | undefined;
  store: ReturnType<typeof createRuleStore>;
} {
  const file = {
    path: '/h/routes.json',
    text,
    read: () => file.text,
    write(next: string) {
      file.text = next;
    },
  };
  const store = createRuleStore({ file, providers: () => ['p', 'q'] });
  return {
    store,
    get text() {
      return file.text;
    },
  };
}
function faultOf(call: () => unknown): string {
  try {
    call();
  } catch (thrown) {
    return isSvcError(thrown) ? `${thrown.kind} ${thrown.message}` : 'not an SvcError';
  }
  return 'no fault';
}

test('rules are added, listed and removed, and numbered if they have no id', () => {
  const { store } = inMemory();
  assert.equal(store.list(), []);
  assert.equal(store.add({ target: 'p/m', model: 'a*' }), {
    id: 'r1',
    priority: 0,
    model: 'a*',
    target: 'p/m',
  });
  store.add({ id: 'r3', target: 'p/m' });
  assert.is(store.add({ target: 'p/m' }).id, 'r4');
  assert.is(store.remove('r1').model, 'a*');
  assert.equal(
    store.list().map((one) => one.id),
    ['r3', 'r4'],
  );
  assert.match(
    faultOf(() => store.add({ id: 'r3', target: 'z/m' })),
    /^bad_request .*'r3' already.*no provider 'z'/,
  );
  assert.match(
    faultOf(() => store.remove('r1')),
    /^not_found There is no rule 'r1'/,
  );
});

test('a damaged file is reported with its faults, and a rule whose provider was removed is kept', () => {
  const rulesJson = (rules: unknown): string => JSON.stringify({ version: 1, rules });
  assert.match(
    faultOf(() => inMemory('{').store.list()),
    /^config .*not JSON/,
  );
  assert.match(
    faultOf(() => inMemory('[]').store.list()),
    /no list of rules/,
  );
  assert.match(
    faultOf(() => inMemory('{"version":2,"rules":[]}').store.list()),
    /another version/,
  );
  const twice = [rule('a'), rule('a'), { id: 'b' }];
  assert.match(
    faultOf(() => inMemory(rulesJson(twice)).store.list()),
    /rule 2: id: there is.*rule 3: target: found nothing/,
  );
  const rulesOfRemovedProvider = inMemory(
    rulesJson([rule('a', { target: 'away/m' }), rule('b')]),
  ).store.list();
  assert.is(rulesOfRemovedProvider.length, 2);
  assert.equal(
    usableRules(rulesOfRemovedProvider, new Set(['p'])).map((one) => one.id),
    ['b'],
  );
});

const providers = new Set(['p', 'q']);

/** Returns a router with rules, and a function that shows its decision. */
function routerWith(rules: readonly RouteRule[], max?: number) {
  const router = createLiveRouter(max);
  router.configure({ enabled: true, providers, rules });
  const decide = (seen: RouteFacts, conversation: string | undefined) =>
    router.decide({ facts: () => seen, conversation: () => conversation });
  return { ...router, decide };
}

test('a conversation keeps its model until a rule matches', () => {
  const rules = [rule('small', { maxTokens: 2000 }), rule('huge', { minTokens: 100_000 })];
  const router = routerWith(rules);
  const at = (inputTokens: number, model = 'm'): string | undefined =>
    router.decide(facts({ inputTokens, model }), 'c')?.target.model;
  assert.equal([at(1000), at(5000), at(100_000), at(5000)], ['small', 'small', 'huge', 'huge']);
  assert.is(router.decide(facts({ inputTokens: 5000, model: 'm' }), 'c')?.isKept, true);
  assert.is(at(5000, 'another'), undefined, 'the user chose another model');
  assert.is(router.decide(facts({ inputTokens: 5000 }), 'd'), undefined);
  assert.is(router.decide(facts({ inputTokens: 5000 }), undefined), undefined);
  const seen = { enabled: true, loaded: 2, rules: 2, requests: 8, routed: 5, hitRate: 5 / 8 };
  assert.equal(router.view(), seen);
  router.use([rule('huge', { minTokens: 100_000, target: 'q/moved' })]);
  assert.equal(router.decide(facts({ inputTokens: 5000, model: 'm' }), 'c')?.target, {
    provider: 'q',
    model: 'moved',
  });
  router.use([rule('other', { minTokens: 1e6 })]);
  assert.is(router.decide(facts({ inputTokens: 5000, model: 'm' }), 'c'), undefined);
});

test('without rules nothing is decided, and the memory is bounded', () => {
  const idle = routerWith([]);
  assert.is(idle.decide(facts(), 'c'), undefined);
  assert.is(idle.view().hitRate, 0);
  const router = routerWith([rule('r', { minTokens: 100 })], 10);
  const isKept = (conversation: string): boolean =>
    router.decide(facts({ inputTokens: 1 }), conversation)?.isKept === true;
  for (let i = 0; i < 100; i += 1) router.decide(facts({ inputTokens: 200 }), `c${i}`);
  const known = Array.from({ length: 100 }, (_, i) => `c${i}`).filter(isKept);
  assert.is(known.length, 10);
  assert.is(isKept('c99'), true);
});

test('the decision follows the table for any rules and conversation', () => {
  const condition = fc.record(
    {
      minTokens: fc.constantFrom(0, 50, 100),
      maxTokens: fc.constantFrom(0, 50, 100),
      hasTools: fc.boolean(),
      priority: fc.nat(2),
    },
    { requiredKeys: ['priority'] },
  );
  const turn = fc.record({
    talk: fc.constantFrom('x', 'y'),
    inputTokens: fc.nat(120),
    hasTools: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(condition, { maxLength: 4 }), fc.array(turn), (conditions, turns) => {
      const rules = conditions.map((each, index) => rule(`r${index}`, each));
      const router = routerWith(rules);
      const last: Record<string, string | undefined> = {};
      for (const { talk, ...seen } of turns) {
        const fits = rules.filter(
          (one) =>
            (one.minTokens === undefined || seen.inputTokens >= one.minTokens) &&
            (one.maxTokens === undefined || seen.inputTokens <= one.maxTokens) &&
            (one.hasTools === undefined || one.hasTools === seen.hasTools),
        );
        const highest = Math.max(...fits.map((one) => one.priority));
        last[talk] = fits.find((one) => one.priority === highest)?.id ?? last[talk];
        assert.is(router.decide(facts(seen), talk)?.ruleId, last[talk]);
      }
    }),
  );
});

test.run();
