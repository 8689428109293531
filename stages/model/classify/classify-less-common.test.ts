/** Code and settings that look like logs, and command output that looks like something else. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TextClass } from './classes.ts';
import { classify } from './classify.ts';
import { gitHash, times } from '../../../fixtures/compress/texts.ts';
import type { ClassifyHints } from './hints.ts';

const CODE_AND_SETTINGS: readonly (readonly [TextClass, string, ClassifyHints?])[] = [
  // Numbered members, calls with addresses and runs of one letter look like stack frames and
  // progress dots.
  ['code', `declare const H: {\n${times(9, (n) => `    ${n}: number;`).join('\n')}\n};\n`],
  [
    'code',
    `const set = require('set')();\nset.addRange(0x16AD0, 0x16AED);\nset.add(0x1F);\nexports.characters = set;\n`,
  ],
  ['config', times(9, (n) => `user${n}:x:10${n}:`).join('\n'), { path: '/etc/group' }],
  [
    'config',
    times(4, (n) => `${n} * * * * app [ -x /opt/a ] && /opt/a`).join('\n'),
    { path: '/etc/cron.d/php' },
  ],
  ['config', '[ ca ]\nname\t\t= CA\n\n[ CA ]\ndir\t\t= ./a\t\t# here\ncerts\t\t= $dir\n'],
  ['config', '# a daemon\n[Network]\n#Speed=no\n#Id=mac\n\n[DHCP]\n#Id=mac\n'],
  ['config', '# who may\nDefaults\tenv_reset\nroot\tALL=(ALL:ALL) ALL\n%admin ALL=(ALL) ALL\n'],
  ['config', '# reads\n  /bin/a rmix,\n  owner /srv/*/ r,\n  capability chown,\n  network tcp,\n'],
];

const RUNS: readonly (readonly [TextClass, string, ClassifyHints?])[] = [
  [
    'log',
    'TAP version 14\n# Subtest: a.js\n    # adds\n    not ok 2 same\n      ---\n      operator: equal\n      expected: |-\n        { a: 2 }\n      actual: |-\n        { a: 1 }\n      ...\n    1..1\n',
  ],
  ['log', times(9, (n) => `${n % 3 ? 'ℹ' : '✔'} part ${n} of the store`).join('\n')],
  ['log', times(9, (n) => `GET /part/${n} ${n % 4 ? 200 : 404} 0.${n}03 ms - -`).join('\n')],
  [
    'log',
    times(9, (n) => `/srv/a.js: line ${n}, col 7, Error - 'a${n}' is never used. (unused)`).join(
      '\n',
    ),
  ],
  ['log', times(9, (n) => `Nov 2${n}, 2026 4:32:46 PM Store run\nINFO: part ${n}`).join('\n')],
  [
    'log',
    times(9, (n) => `[10:22:1${n}.256] INFO (2205): part\n    part: ${n}\n    of: 9`).join('\n'),
  ],
  [
    'log',
    times(9, (n) => `read(${n}, "\\177ELF"..., 832)   = 832\nclose(${n})            = 0`).join(
      '\n',
    ),
  ],
  [
    'log',
    `==12== Memcheck, a memory error detector\n${times(9, (n) => `==12==    at 0x48${n}: f (a.c:${n})`).join('\n')}`,
  ],
  ['log', times(9, (n) => `I store.parts part ${n} is read`).join('\n')],
  [
    'log',
    'Running Sphinx v5\nmaking output directory... done\nreading sources... [100%] index\n/a/index.rst:4: WARNING: no such document\npickling environment... done\nbuild succeeded, 1 warning.\n',
  ],
  [
    'log',
    'a.f90:4:11:\n\n    4 |  call foo(i\n      |           1\nError: Syntax error in argument list at (1)\n',
  ],
  [
    'log',
    'a.c: In function ‘f’:\na.c:3:5: warning: null [-Wnull]\n    3 | f(p);\n      | ^~\n  ‘g’: events 1-2\n    |\n    |    4 | g();\n    |      |\n    |      | (1) entry to ‘g’\n    +--> ‘f’: events 3-4\n',
    { command: 'gcc -fanalyzer -c a.c' },
  ],
  [
    'log',
    'CLI Building entry: a.js\nCLI Target: node16\nCJS Build start\nCJS a.js 581 B\n',
    { command: 'npx tsup a.js' },
  ],
  [
    'log',
    '07/11/2026-10:29:01.860293  [**] [1:22:2] invalid checksum [**]\n07/11/2026-10:29:32.251216  [**] [1:20:4] scan [**]\n07/11/2026-10:36:12.345430  [**] [1:34:1] agent [**]\n',
  ],
  [
    'trace',
    'Fatal error: exception Failure("empty")\nRaised at Stdlib.failwith in file "stdlib.ml", line 29, characters 17-33\nCalled from A.f in file "a.ml", line 1, characters 61-70\n',
  ],
  [
    'trace',
    'no number\n    while executing\n"expr {$x}"\n    (procedure "c" line 1)\n    invoked from within\n"c $x"\n    (procedure "b" line 1)\n    invoked from within\n"b 3"\n',
  ],
  [
    'trace',
    'Unhandled Exception:\nSystem.NullReferenceException: not set\n  at A.C (System.String s) [0x00001] in /a/F.cs:1 \n  at A.B () [0x00002] in /a/F.cs:1 \n',
  ],
  [
    'trace',
    'Unhandled ERROR in thread main:\n  no ledger 3\n\nBacktrace for: #<THREAD "main">\n0: (DEBUG::HOOK #<ERROR> :QUIT T)\n1: (ERROR "no ledger" 3)\n2: (F 3)\n3: (LOAD "a.lisp")\n',
  ],
  [
    'log',
    times(
      9,
      (n) => `19-Oct-2022 05:34:0${n}.425 client @0x7f 10.0.0.${n}#30 (a.test): denied`,
    ).join('\n'),
  ],
  [
    'log',
    times(9, (n) => `2021-11-09  5:13:1${n} 8 [Warning] Access denied for part ${n}`).join('\n'),
  ],
  ['log', times(9, (n) => `2014:07:02-00:17:4${n}: part ${n} is read`).join('\n')],
  ['log', times(9, (n) => `Apr-07-13 07:08:3${n} [SSL-out] part ${n} failed`).join('\n')],
  ['log', times(9, (n) => `srv sshd[1370${n}]: no password for part ${n}`).join('\n')],
  [
    'log',
    times(
      9,
      (n) => `[GIN] 2022/02/07 - 10:49:3${n} | 401 |   505.3µs |    10.1.2.3 | POST  "/a${n}"`,
    ).join('\n'),
    { command: 'tail /var/log/a.log' },
  ],
  ['log', times(5, (n) => `line ${n} column 7 - Warning: missing part ${n}`).join('\n')],
  [
    'log',
    "INFO: backend is ninja\nninja: Entering directory `b1'\n[1/2] Compiling C object a.o\n[2/2] Linking target prog\n",
  ],
  [
    'log',
    '  ✔ adds\n  ✘ [fail]: fails\n\n  fails\n\n  a.mjs:2\n\n   1: import test;\n   2: test(a);\n\n  Values differ:\n\n    {\n  -   a: 1,\n  +   a: 2,\n    }\n\n  › a.mjs:2\n\n  2 tests failed\n',
  ],
  // Dated commits, in any format, are the requested content.
  [
    'other',
    times(9, (n) => `2026-03-07 10:0${n}:20 +0000 ${gitHash(n).slice(0, 8)} add part ${n}`).join(
      '\n',
    ),
  ],
  [
    'log',
    times(9, (n) => `Unpacking objects: part ${n}`).join('\n'),
    { command: 'git clone a.test:b' },
  ],
];

for (const [index, [kind, text, hints]] of [...CODE_AND_SETTINGS, ...RUNS].entries()) {
  test(`recognises ${kind} in a less common form (case ${index})`, () => {
    assert.is(classify(text, hints).kind, kind);
  });
}

test.run();
