/**
 * What the bundled recipes must keep: what the question or the call asks for, lines with a value
 * unlike their neighbours', and lines that only look like progress.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createConversationCompressor } from '../../stages/compress/worker/conversation-compressor.ts';
import { loadRecipes } from './recipes.ts';

type Mode = 'hybrid' | 'aggressive';
const compressor = createConversationCompressor(0);
const times = (count: number, line: (n: number) => string): string[] =>
  Array.from({ length: count }, (_, n) => line(n));

/** Returns what is sent for a command's output that follows a question. */
async function sentText(
  question: string,
  command: string,
  text: string,
  mode: Mode,
): Promise<string> {
  const recipes = (await loadRecipes('bundled'))!;
  const [, outcome] = await compressor.compress({
    blocks: [
      { index: 0, role: 'user', kind: 'user_text', text: question, message: 0 },
      {
        index: 1,
        role: 'user',
        kind: 'tool_result',
        message: 1,
        text,
        toolName: 'Bash',
        toolInput: { command },
      },
    ],
    options: { mode, maxChars: 120, thresholdTokens: 0, logBudgetTokens: 3500, recipes },
  });
  return outcome!.text ?? text;
}

interface Case {
  readonly question: string;
  readonly command: string;
  readonly lines: readonly string[];
  /** Texts that the sent output must contain. */
  readonly stays: readonly string[];
  /** True if the recipe must still save something. */
  readonly saves?: true;
}

async function check(cases: readonly Case[], modes: readonly Mode[]): Promise<void> {
  for (const { question, command, lines, stays, saves } of cases)
    for (const mode of modes) {
      const text = lines.join('\n');
      const out = await sentText(question, command, text, mode);
      for (const part of stays)
        assert.ok(out.includes(part), `${mode} ${command}: ${part}\n${out}`);
      if (saves === true) assert.ok(out.length < text.length * 0.8, `${mode} ${command}: ${out}`);
    }
}

const SPEC = [
  '▶ parser',
  ...times(30, (n) => `  ✔ handles the case ${n} of the parser (0.${n}1ms)`),
  '  ✔ rejects expired tokens (0.51ms)',
  ...times(30, (n) => `  ✔ handles the other case ${n} of the parser (0.${n}1ms)`),
  '▶ parser (31ms)',
  'ℹ tests 61',
  'ℹ pass 61',
  'ℹ fail 0',
];

test('keeps a line named in the question or the call among similar lines that are removed', async () => {
  const go = [
    ...times(40, (n) => `=== RUN   TestPart${n}\n--- PASS: TestPart${n} (0.00s)`),
    '=== RUN   TestTokenExpiry\n--- PASS: TestTokenExpiry (0.00s)',
    ...times(20, (n) => `=== RUN   TestMore${n}\n--- PASS: TestMore${n} (0.00s)`),
    'PASS',
    'ok  \texample.com/w\t0.012s',
  ];
  const pip = [
    ...times(
      20,
      (n) => `Collecting part${n}==1.${n}\n  Downloading part${n}-1.${n}-py3.whl (1 kB)`,
    ),
    'Requirement already satisfied: numlib>=1.2 in /usr/lib/python3/dist-packages (from tool) (1.24.3)',
    ...times(
      20,
      (n) => `Requirement already satisfied: other${n}>=1 in /v/lib (from tool) (1.${n})`,
    ),
    'Installing collected packages: part',
    'Successfully installed part-1.0',
  ];
  await check(
    [
      {
        question: 'Check that "rejects expired tokens" passes',
        command: 'node --test',
        lines: SPEC,
        stays: ['✔ rejects expired tokens (0.51ms)'],
        saves: true,
      },
      {
        question: 'Does the test for expired sessions and tokens run at all?',
        command: 'node --test',
        lines: SPEC,
        stays: ['✔ rejects expired tokens (0.51ms)'],
        saves: true,
      },
      {
        question: 'Run the tests again',
        command: 'go test -v ./... # was TestTokenExpiry renamed?',
        lines: go,
        stays: ['--- PASS: TestTokenExpiry (0.00s)'],
        saves: true,
      },
      {
        question: 'Install the tool. Which numlib does it use?',
        command: 'pip install tool',
        lines: pip,
        stays: ['numlib>=1.2', '(1.24.3)'],
        saves: true,
      },
    ],
    ['hybrid', 'aggressive'],
  );
});

test('in hybrid keeps what was skipped, retried, slow or cached', async () => {
  const pytest = times(
    40,
    (n) => `tests/test_${n}.py ${n === 17 ? '..s..' : n === 23 ? '.x...' : '.....'}    [ ${n}%]`,
  );
  await check(
    [
      {
        question: 'Run the tests',
        command: 'pytest',
        lines: [
          '===== test session starts =====',
          'platform linux',
          'collected 200 items',
          '',
          ...pytest,
          '',
          '==== 198 passed, 1 skipped, 1 xfailed in 1.2s ====',
        ],
        stays: ['test_17.py ..s..', 'test_23.py .x...'],
        saves: true,
      },
      {
        question: 'Run the tests',
        command: 'npx vitest run',
        lines: [
          ' RUN  v1.6.0 /app',
          '',
          ...times(
            30,
            (n) =>
              ` ✓ src/mod${n}.test.ts (5 tests${n === 12 ? ' | 1 skipped' : ''})${n === 20 ? ' (retry x2)' : ''} ${20 + n}ms`,
          ),
          '',
          ' Test Files  30 passed (30)',
          '      Tests  149 passed | 1 skipped (150)',
        ],
        stays: ['mod12.test.ts (5 tests | 1 skipped)', 'mod20.test.ts (5 tests) (retry x2)'],
        saves: true,
      },
      {
        question: 'Run the tests',
        command: 'prove -v t',
        lines: [
          'TAP version 13',
          ...times(
            60,
            (n) => `ok ${n + 1} - part ${n}${n === 30 ? ' # time=54321.5ms' : ` # time=${n}.5ms`}`,
          ),
          '1..60',
          '# tests 60',
          '# pass 60',
        ],
        stays: ['ok 31 - part 30 # time=54321.5ms'],
        saves: true,
      },
      {
        question: 'Build the image',
        command: 'docker build .',
        lines: [
          '#0 building with "default" instance using docker driver',
          '#1 [internal] load build definition from Dockerfile',
          '#1 transferring dockerfile: 512B done',
          '#1 DONE 0.0s',
          ...times(
            9,
            (n) =>
              `#${n + 3} [${n + 2}/11] RUN step-${n}\n${n < 4 ? `#${n + 3} CACHED` : `#${n + 3} ${n}.311 Collecting part-${n}\n#${n + 3} ${n}.312 Downloading part-${n}-1.0.whl (12 kB)\n#${n + 3} DONE ${n === 6 ? '412.8' : '0.9'}s`}`,
          ),
          '#14 exporting layers 0.1s done',
          '#14 writing image sha256:8f14e45fceea167a5a36dedd4bea2543d6f1a1c1e3f1 done',
          ...times(4, (n) => `#${n + 15} [stage] COPY more-${n}\n#${n + 15} DONE 0.1s`),
        ],
        stays: ['#6 CACHED', '#9 DONE 412.8s', 'writing image sha256:8f14e45f'],
      },
    ],
    ['hybrid', 'aggressive'],
  );
});

const LS = times(
  30,
  (n) =>
    `  13${10 + n}      4 -rw-r--r--   1 ${n === 17 ? 'root     root    ' : 'app      app     '} 10${10 + n} Nov 28 10:${10 + n} ./file-${n}.json`,
);

test('sends all passed tests if the question is about them', async () => {
  const go = times(40, (n) => `=== RUN   TestPart${n}\n--- PASS: TestPart${n} (0.0${n % 9}s)`);
  const cargo = times(40, (n) => `test part::case_${n} ... ok`);
  const pytest = times(40, (n) => `tests/test_part.py::test_case_${n} PASSED   [ ${n + 10}%]`);
  const vitest = times(40, (n) => ` ✓ src/part${n}.test.ts > case ${n} ${n}ms`);
  const runs: readonly Omit<Case, 'question' | 'saves'>[] = [
    {
      command: 'go test -v',
      lines: [...go, 'PASS', 'ok  \tw\t0.4s'],
      stays: ['TestPart17 (0.08s)'],
    },
    {
      command: 'cargo test',
      lines: ['running 40 tests', ...cargo, '', 'test result: ok. 40 passed; 0 failed'],
      stays: ['case_17 ...'],
    },
    {
      command: 'pytest -v',
      lines: ['====== test session starts ======', ...pytest, '====== 40 passed in 1.21s ======'],
      stays: ['test_case_17 '],
    },
    {
      command: 'npx vitest run',
      lines: [' RUN  v3.0.0 /app', '', ...vitest, '', ' Test Files  40 passed (40)'],
      stays: ['case 31 31ms'],
    },
  ];
  const questions = [
    'Run the tests and list the name of every test that passed',
    'Does a test for the case of tides exist?',
    'Which test took longest?',
    'What tests are there?',
  ];
  for (const run of runs) {
    await check(
      questions.map((question) => ({ ...run, question })),
      ['hybrid', 'aggressive'],
    );
    // Ordinary work on tests is not such a question.
    for (const question of ['Run the tests and mend what fails', 'All tests must pass at the end'])
      await check([{ ...run, question, stays: [], saves: true }], ['hybrid']);
  }
});

test('in aggressive keeps a line whole if what it would lose differs from its neighbours', async () => {
  await check(
    [
      {
        question: 'Why can the server not write?',
        command: 'find . -ls',
        lines: LS,
        stays: ['root     root'],
        saves: true,
      },
      {
        question: 'Mend the lint errors',
        command: 'npx eslint src',
        lines: [
          '/app/src/a.js',
          ...times(
            30,
            (n) =>
              `  ${100 + n}:5  ${n === 17 ? 'error  ' : 'warning'}  Strings must use singlequote everywhere  quotes`,
          ),
          '',
          '✖ 30 problems (1 error, 29 warnings)',
          '  1 error and 29 warnings potentially fixable with the `--fix` option.',
        ],
        stays: ['117:5  error  quotes'],
        saves: true,
      },
      {
        question: 'Apply it',
        command: 'terraform apply -auto-approve',
        lines: [
          'Terraform will perform the following actions:',
          ...times(
            8,
            (n) =>
              `  # aws_instance.web[${n}] will be created\n  + resource "aws_instance" "web" {\n      + ami           = "ami-0${n}"\n      + arn           = (known after apply)\n      + id            = (known after apply)\n      + subnet_id     = "subnet-1"\n      + instance_type = "${n === 4 ? 'm5.24xlarge' : 't3.micro'}"\n    }\n`,
          ),
          'Plan: 8 to add, 0 to change, 0 to destroy.',
          ...times(8, (n) => `aws_instance.web[${n}]: Creating...`),
          ...times(
            8,
            (n) =>
              `aws_instance.web[${n}]: Creation complete after ${n === 2 ? '9m41' : '1'}s [id=i-0abc${n}]`,
          ),
          'Apply complete! Resources: 8 added, 0 changed, 0 destroyed.',
        ],
        stays: ['m5.24xlarge', 'after 9m41s', 'id=i-0abc5'],
        saves: true,
      },
      {
        question: 'Why is the pod pending?',
        command: 'kubectl describe pod web-1',
        lines: [
          'Name:             web-1',
          'Labels:           app=web',
          '                  tier=front',
          'Status:           Pending',
          ...times(
            6,
            (n) =>
              `    Container ID:  containerd://${n}b558dc19daec44570a3ac445df5c4feb51d636f524941be8f`,
          ),
          'Volumes:',
          '  data:',
          '    ClaimName:  data-web-1',
          'Node-Selectors:              disktype=ssd',
          'Tolerations:                 dedicated=db:NoSchedule',
          '                             node.kubernetes.io/not-ready:NoExecute op=Exists for 300s',
          'Events:',
          "  Warning  FailedScheduling  12s   default-scheduler  0/3 nodes are available: 3 node(s) didn't match",
        ],
        stays: ['tier=front', 'ClaimName:', 'disktype=ssd', 'dedicated=db:NoSchedule'],
      },
      {
        question: 'Remove the images without a name',
        command: 'docker images',
        lines: [
          'REPOSITORY   TAG       IMAGE ID       CREATED        SIZE',
          ...times(
            12,
            (n) =>
              `${n % 3 > 0 ? 'app   ' : '<none>'}       ${n % 3 > 0 ? 'v1    ' : '<none>'}    ${800000000000 + n}   3 days ago     10${n % 10}MB`,
          ),
        ],
        stays: ['800000000006'],
      },
    ],
    ['aggressive'],
  );
});

test('in aggressive no recipe omits what the question is about', async () => {
  const log = times(
    8,
    (n) =>
      `commit ${n}f14e45f${'0'.repeat(32)}\nAuthor: Kim Ray <k@example.com>\nDate:   Mon Nov ${10 + n} 10:00:00 2026 +0100\n\n    Change number ${n}\n`,
  );
  const pods = [
    'NAME      READY   STATUS    RESTARTS   AGE   IP            NODE     NOMINATED NODE',
    ...times(
      15,
      (n) =>
        `api-${String(n).padEnd(5)} 1/1     Running   0          3d    10.244.1.${String(10 + n).padEnd(4)} node-${n % 3}   <none>`,
    ),
  ];
  const curl = [
    '*   Trying 192.0.2.34:443...',
    ...times(12, (n) => `* TLSv1.3 (IN), step ${n} of the way`),
    '> GET / HTTP/2',
    '> ',
    '< HTTP/2 200 ',
    '< content-type: text/html',
    '< strict-transport-security: max-age=300',
    '< x-cache: MISS',
    '< date: Sat, 28 Nov 2026 10:00:00 GMT',
    '< ',
    'a',
    'b',
    'c',
  ];
  const orders = JSON.stringify(
    {
      items: times(12, (n) => `order ${n}`).map((name, id) => ({
        id,
        name,
        url: `https://shop.example/${id}`,
        note: '',
      })),
      _links: { next: '/orders?cursor=abc99' },
    },
    null,
    2,
  );
  await check(
    [
      {
        question: 'Who wrote these, and when?',
        command: 'git log -n 8',
        lines: log,
        stays: ['Date:   Mon Nov 14', 'Author: Kim Ray'],
      },
      {
        question: 'Go on',
        command: 'git log -n 8 --since=2.weeks',
        lines: log,
        stays: ['Date:   Mon Nov 14'],
      },
      {
        question: 'What is the IP of the pods?',
        command: 'kubectl get pods -o wide',
        lines: pods,
        stays: ['10.244.1.17'],
      },
      {
        question: 'Is HSTS set in the headers?',
        command: 'curl -v https://shop.example/',
        lines: curl,
        stays: ['max-age=300', 'x-cache: MISS'],
      },
      {
        question: 'Go on',
        command: 'curl -v https://shop.example/',
        lines: curl,
        stays: ['max-age=300', 'x-cache: MISS'],
      },
      {
        question: 'Go on',
        command: 'curl -s https://shop.example/orders',
        lines: orders.split('\n'),
        stays: ['cursor=abc99', 'https://shop.example/'],
      },
      {
        question: 'Which files are the newest?',
        command: 'find . -ls',
        lines: LS,
        stays: ['Nov 28 10:25'],
      },
      { question: 'Go on', command: 'find . -newer a -ls', lines: LS, stays: ['Nov 28 10:25'] },
      {
        question: 'Rename every use of it',
        command: 'grep -rn oldName src',
        lines: times(30, (n) => `src/part.ts:${n + 1}:  const value${n} = oldName(${n});`),
        stays: ['value29 = oldName(29)', 'value15 = oldName(15)'],
      },
      {
        question: 'From which registry do they come?',
        command: 'cat package-lock.json',
        lines: times(
          12,
          (n) =>
            `    "node_modules/part${n}": {\n      "version": "1.0.${n}",\n      "resolved": "https://${n === 7 ? 'other.example' : 'registry.npmjs.org'}/part${n}.tgz",\n      "license": "MIT"\n    },`,
        ),
        stays: ['https://other.example/part7.tgz'],
      },
    ],
    ['aggressive'],
  );
});

test.run();
