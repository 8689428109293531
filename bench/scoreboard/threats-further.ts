/** Further promises about admission: where keys go, what is shown, what is installed. */
import type { Row } from './row.ts';

export const FURTHER_THREATS: readonly Row[] = [
  {
    id: 'key-to-other-provider',
    isSlow: true,
    threat: 'A request routed to a provider that its key does not belong to',
    required: 'the key is not sent',
    file: 'server/tests/gate/headers.test.ts',
    test: 'no key reaches a provider that it was not meant for',
    sabotage: {
      file: 'stages/forward/request/outgoing.ts',
      before: "(target.credential !== 'client' && CREDENTIALS.has(name)) ||",
      after: '',
    },
  },
  {
    id: 'own-key-leaves',
    isSlow: true,
    threat: 'A proxy key in a field for a provider’s key',
    required: 'it is removed, and the configured key is sent',
    file: 'server/tests/gate/own-keys.test.ts',
    test: 'an unknown or revoked key of our format is 401 from anywhere and reaches no provider',
    sabotage: {
      file: 'server/auth/auth.ts',
      before: "if (found === undefined) return 'unknown';",
      after: "if (found === undefined) return all[0]?.admits ?? 'unknown';",
    },
  },
  {
    id: 'redirect',
    isSlow: true,
    threat: 'A provider that redirects to another host',
    required: 'the redirect goes to the client and is not followed',
    file: 'server/tests/gate/headers.test.ts',
    test: 'a redirect is passed on and never followed',
    sabotage: {
      file: 'stages/providers/undici-upstream.ts',
      before:
        'send: (request, call) => new DispatchedRequest(request, turn, call?.onSent).start(dispatcher),',
      after: `send: async (request, call) => {
      const first = await new DispatchedRequest(request, turn, call?.onSent).start(dispatcher);
      const at = first.headers.findIndex((name) => name.toLowerCase() === 'location');
      if (first.status < 300 || first.status > 399 || at < 0) return first;
      const { origin, pathname } = new URL(first.headers[at + 1]!);
      return new DispatchedRequest({ ...request, origin, path: pathname }, turn).start(dispatcher);
    },`,
    },
  },
  {
    id: 'dot-paths',
    isSlow: true,
    threat: 'A path with dot segments (path traversal)',
    required: 'it never matches a path of the proxy',
    file: 'server/tests/gate/targets.test.ts',
    test: 'no spelling of the reload path lets another machine or a foreign page reload',
    sabotage: {
      file: 'server/http/router.ts',
      before: "segment === '.' || segment === '..'",
      after: "segment === '…'",
    },
  },
  {
    id: 'planted-files',
    threat: 'A link or a process id planted where svc keeps its own',
    required: 'a file that svc did not write is not touched',
    file: 'cli/process/daemon.test.ts',
    test: 'a file that svc did not write is left alone; a truncated pid file is taken over',
    sabotage: {
      file: 'cli/process/daemon.ts',
      before: 'if (other !== undefined) throw alreadyRuns(other);\n      removeStaleFile(path);',
      after:
        'if (other !== undefined) throw alreadyRuns(other);\n      fs.rmSync(path, { force: true });',
    },
  },
  {
    id: 'recycled-pid',
    threat: 'A process that now has the number of a stopped proxy',
    required: 'it never gets a signal',
    file: 'cli/process/daemon.test.ts',
    test: 'stop never signals a different process that has reused the pid',
    sabotage: {
      file: 'cli/process/processes.ts',
      before: 'if (!isRunning(target)) return false;\n  try {\n    process.kill',
      after: 'try {\n    process.kill',
    },
  },
  {
    id: 'deep-json',
    threat: 'A body of a million nested brackets',
    required: 'it is recognized by counting, without recursion',
    file: 'stages/wire/json-size.test.ts',
    test: 'a million open brackets count as deep, of either kind',
    sabotage: {
      file: 'stages/wire/json-size.ts',
      before: "if (depth > MAX_DEPTH) return { size: 'deep', values };",
      after: '',
    },
  },
  {
    id: 'flood-of-sources',
    threat: 'A flood of requests from ever new addresses',
    required: 'the rate limiter’s memory does not grow with them',
    file: 'server/http/limit.test.ts',
    test: 'a million sources use no more memory than twenty thousand, and a busy one is remembered',
    sabotage: {
      file: 'server/http/limit.ts',
      before: 'if (young.size >= max) {',
      after: 'if (young.size >= 100 * max) {',
    },
  },
  {
    id: 'terminal',
    threat: 'A model, path or session name with terminal escapes',
    required: 'control characters are shown, never sent to the terminal',
    file: 'server/log/visible.test.ts',
    test: 'escapes control characters and nothing else',
    sabotage: {
      file: 'server/log/visible.ts',
      before: 'const UNSAFE = /[\\0-\\u0008\\u000a-\\u001f',
      after: 'const UNSAFE = /[\\0-\\u0008\\u000a-\\u001a\\u001c-\\u001f',
    },
  },
  {
    id: 'metric-labels',
    isSlow: true,
    threat: 'A model name that ends its label in /metrics',
    required: 'it is escaped',
    file: 'server/routes/metrics.test.ts',
    test: '/metrics equals the ledger, and a hostile name stays inside its label',
    sabotage: {
      file: 'server/facts/metrics-text.ts',
      before: `return value.replaceAll('\\\\', '\\\\\\\\').replaceAll('"', '\\\\"').replaceAll('\\n', '\\\\n');`,
      after: 'return value;',
    },
  },
  {
    id: 'lenient-dates',
    isSlow: true,
    threat: 'A date in a query that a lenient parser, or SQL, would misread',
    required: 'only ISO 8601 is accepted',
    file: 'cli/run.test.ts',
    test: 'every command with --since refuses a value that is not a date',
    sabotage: {
      file: 'server/routes/iso-date.ts',
      before: 'if (match === null) return undefined;',
      after: 'if (match === null) return Date.parse(text) || 0;',
    },
  },
  {
    id: 'authority',
    threat: 'A person who steals forward mode’s certificate authority',
    required: 'clients accept its certificates for the opened hosts only',
    file: 'server/forward-proxy/ca/certificate.test.ts',
    test: 'Node trusts the authority only for the intercepted hosts',
    sabotage: {
      file: 'server/forward-proxy/ca/certificate.ts',
      before: '      extension(id_ce_nameConstraints, constraints, true),\n',
      after: '',
    },
  },
  {
    id: 'sealed-answers',
    threat: 'A person who can write to the shared Redis',
    required: 'a changed entry is not served',
    file: 'server/shared/seal.test.ts',
    test: 'rejects changed, truncated and random data',
    sabotage: {
      file: 'server/shared/seal.ts',
      before: 'cipher.final()]);\n  } catch {',
      after: 'Buffer.alloc(0)]);\n  } catch {',
    },
  },
  {
    id: 'config-pull',
    isSlow: true,
    threat: 'A settings repository with a link that leads out of it',
    required: 'it is refused, and none of its programs runs',
    file: 'cli/config-source/config-source.test.ts',
    test: 'a repository: reads its file at a branch, follows no link out of it, runs no program',
    sabotage: {
      file: 'cli/config-source/fetch.ts',
      before: 'if (!real.startsWith(realpathSync(where) + sep))',
      after: 'if (!real.startsWith(sep))',
    },
  },
  {
    id: 'control-socket',
    isSlow: true,
    threat: 'Another user who finds the control socket',
    required: 'it has mode 0600 from the first moment, whatever the umask',
    file: 'cli/commands/serve.test.ts',
    test: 'under umask 000 everything is private',
    sabotage: {
      file: 'server/control/control.ts',
      before: '  chmodSync(path, 0o600);\n',
      after: '  chmodSync(path, 0o666);\n',
    },
  },
  {
    id: 'postgres-password',
    threat: 'A Postgres error, with the password in the address',
    required: 'the message names a cure and never the password',
    file: 'stages/ledger/postgres/schema.test.ts',
    test: 'errors have a cure that fits the refusal, and never show the password',
    sabotage: {
      file: 'stages/ledger/postgres/query-errors.ts',
      before: "text = text.replaceAll(password, '…');",
      after: "text = text.replaceAll(password, '$&');",
    },
  },
  {
    id: 'mcp-remote-caller',
    isSlow: true,
    threat: 'A caller on another machine who asks for texts by MCP',
    required: 'it needs a key, and gets no text of a conversation',
    file: 'server/tests/records/mcp.test.ts',
    test: 'a caller on another machine needs a key, and gets no text of conversations',
    sabotage: {
      file: 'server/routes/mcp.ts',
      before: "isThisMachine: verdict === 'local',",
      after: "isThisMachine: verdict !== 'open',",
    },
  },
];
