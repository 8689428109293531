import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isSvcError } from '../../engine/index.ts';
import { kindByCredential, noSuchPath, resolveEndpoint } from './endpoints.ts';
import { modelInPath, withModelInPath } from '../model/target.ts';

/** Returns what a request resolves to, in one line. */
function describeEndpoint(method: string, target: string): string {
  const resolved = resolveEndpoint(method, target, []);
  if (resolved === undefined) return 'none';
  if ('allow' in resolved) return `allow ${resolved.allow.join(' ')}`;
  const { dialect, operation, rewritable, defaultKind } = resolved;
  return `${dialect} ${operation} ${rewritable ? 'rewritten' : 'passed'} ${defaultKind}`;
}

const TABLE: readonly (readonly [method: string, target: string, expected: string])[] = [
  ['POST', '/v1/messages', 'messages generate rewritten messages'],
  ['POST', '/v1/messages?beta=true', 'messages generate rewritten messages'],
  ['GET', '/v1/messages', 'allow POST'],
  ['POST', '/v1/messages/count_tokens?beta=true', 'messages count_tokens rewritten messages'],
  ['DELETE', '/v1/messages/count_tokens', 'allow POST'],
  ['POST', '/v1/messages/batches', 'opaque other passed messages'],
  ['POST', '/v1/chat/completions', 'chat generate rewritten chat'],
  ['PUT', '/v1/chat/completions', 'allow GET HEAD POST'],
  ['GET', '/v1/chat/completions?limit=2', 'opaque other passed chat'],
  ['GET', '/v1/chat/completions/c1/messages', 'opaque other passed by-credential'],
  ['POST', '/v1/completions', 'opaque completions passed chat'],
  ['POST', '/v1/responses', 'responses generate rewritten chat'],
  ['POST', '/v1/responses/compact', 'responses compact rewritten chat'],
  ['POST', '/v1/responses/input_tokens', 'responses count_tokens rewritten chat'],
  ['GET', '/v1/responses/input_tokens', 'allow POST'],
  ['GET', '/v1/responses/resp_1', 'opaque other passed chat'],
  ['POST', '/v1/embeddings', 'opaque embeddings passed chat'],
  ['GET', '/v1/models?limit=1000', 'opaque models passed by-credential'],
  ['GET', '/v1/models/some%2Fmodel', 'opaque models passed by-credential'],
  ['HEAD', '/v1/models', 'opaque models passed by-credential'],
  ['POST', '/v1/models', 'allow GET HEAD'],
  ['POST', '/v1/models/m', 'allow GET HEAD DELETE'],
  ['DELETE', '/v1/models/ft:m', 'opaque other passed by-credential'],
  ['POST', '/v1/models/g-2.5:generateContent', 'generative generate rewritten generative'],
  ['POST', '/v1beta/models/g-2.5:generateContent', 'generative generate rewritten generative'],
  [
    'POST',
    '/v1beta/models/g-2.5:streamGenerateContent?alt=sse',
    'generative generate rewritten generative',
  ],
  ['GET', '/v1beta/models/g-2.5:generateContent', 'allow POST'],
  ['POST', '/v1beta/models/q2.5:7b:generateContent', 'generative generate rewritten generative'],
  ['POST', '/v1/models/maker/q:7b:generateContent', 'generative generate rewritten generative'],
  ['GET', '/v1beta/models/maker/q:7b:streamGenerateContent', 'allow POST'],
  ['POST', '/v1beta/models/maker/q:7b:countTokens', 'generative count_tokens rewritten generative'],
  ['POST', '/v1/models/maker/q:7b:countTokens', 'generative count_tokens rewritten generative'],
  ['POST', '/v1beta/models/g:countTokens', 'generative count_tokens rewritten generative'],
  ['POST', '/v1/models/g:countTokens?key=k', 'generative count_tokens rewritten generative'],
  ['POST', '/v1beta/models/g:embedContent', 'opaque other passed generative'],
  ['POST', '/v1beta/tunedModels/g:generateContent', 'opaque other passed generative'],
  ['GET', '/v1beta/models', 'opaque other passed generative'],
  ['POST', '/v1alpha/models/g:generateContent', 'generative generate rewritten generative'],
  ['POST', '/v1beta1/models/g:streamGenerateContent', 'generative generate rewritten generative'],
  ['POST', '/v1alpha/models/g:countTokens', 'generative count_tokens rewritten generative'],
  ['POST', '/v1alpha/auth_tokens', 'opaque other passed generative'],
  ['GET', '/v1beta1/projects/p/locations', 'opaque other passed generative'],
  ['POST', '/upload/v1beta/files?uploadType=media', 'opaque other passed generative'],
  ['PUT', '/upload/v1alpha/files', 'opaque other passed generative'],
  ['GET', '/download/v1beta/files/f:download?alt=media', 'opaque other passed generative'],
  ['POST', '/upload/v2/files', 'none'],
  ['POST', '/upload/v1beta/../x', 'none'],
  ['POST', '/v1/files', 'opaque other passed by-credential'],
  ['DELETE', '/v1/files/f1', 'opaque other passed by-credential'],
  ['HEAD', '/', 'opaque probe passed messages'],
  ['HEAD', '/api/hello', 'opaque probe passed messages'],
  ['GET', '/api/hello', 'allow HEAD'],
  ['GET', '/', 'none'],
  ['POST', '/v1', 'none'],
  ['POST', '/v1/', 'none'],
  ['POST', '/v2/messages', 'none'],
  ['POST', '/models/g:generateContent', 'none'],
  ['GET', '/v1/svc/blocks/abc', 'none'],
  ['POST', '/v1/svc/anything', 'none'],
  ['GET', '/v1/svc?x=1', 'none'],
  ['GET', '/v1/svc-files', 'opaque other passed by-credential'],
  ['GET', '/v1/../admin', 'none'],
  ['GET', '/v1/files/%2e%2e/%2E./admin', 'none'],
  ['GET', '/v1/files/..%2fadmin', 'none'],
  ['GET', '/v1beta/models/..\\x', 'none'],
  ['GET', '/v1/files/a..b', 'opaque other passed by-credential'],
];

for (const [method, target, expected] of TABLE) {
  test(`${method} ${target}`, () => assert.is(describeEndpoint(method, target), expected));
}

test('a WebSocket upgrade of the responses path is refused so that clients go on over HTTP', () => {
  assert.throws(
    () => resolveEndpoint('GET', '/v1/responses', ['Upgrade', 'WebSocket']),
    (error: unknown) => isSvcError(error) && error.kind === 'upgrade_required',
  );
});

test('the credential headers decide the kind of provider', () => {
  assert.is(kindByCredential(['X-Api-Key', 'k']), 'messages');
  assert.is(kindByCredential(['Authorization', 'Bearer t', 'anthropic-version', 'v']), 'messages');
  assert.is(kindByCredential(['x-goog-api-key', 'k']), 'generative');
  assert.is(kindByCredential(['Authorization', 'Bearer t']), 'chat');
  assert.is(kindByCredential([]), 'chat');
});

test('only the model in a path is read and replaced', () => {
  assert.is(modelInPath('/v1beta/models/a%20b:generateContent?alt=sse'), 'a b');
  assert.is(modelInPath('/v1/models/m'), 'm');
  assert.is(modelInPath('/v1/models/%zz:generateContent'), '%zz');
  assert.is(modelInPath('/v1/messages?m=/v1/models/m'), undefined);
  assert.is(modelInPath('/v1/models/ft:gpt:maker::ab12'), 'ft:gpt:maker::ab12');
  assert.is(modelInPath('/v1/models/m/permissions'), undefined);
  const target = '/v1beta/models/old:streamGenerateContent?alt=sse';
  const replaced = '/v1beta/models/new%2Fone:streamGenerateContent?alt=sse';
  assert.is(withModelInPath(target, 'new/one'), replaced);
  assert.is(withModelInPath('/v1/messages', 'm'), undefined);
});

test('a model name with colons and slashes ends before the method', () => {
  const target = '/v1beta/models/maker/q2.5:7b:streamGenerateContent?alt=sse&x=a:b';
  assert.is(modelInPath(target), 'maker/q2.5:7b');
  assert.is(modelInPath('/v1beta/models/q:latest:generateContent'), 'q:latest');
  const replaced = '/v1beta/models/g%3A1:streamGenerateContent?alt=sse&x=a:b';
  assert.is(withModelInPath(target, 'g:1'), replaced);
});

test('a base URL with a missing or doubled version is named in the error', () => {
  const BARE = 'No such path on this proxy';
  const table: readonly (readonly [target: string, why: string])[] = [
    ['/messages?beta=true', `: this one is /v1/messages, so the client's base URL must end in /v1`],
    [
      '/chat/completions',
      `: this one is /v1/chat/completions, so the client's base URL must end in /v1`,
    ],
    ['/models', `: this one is /v1/models, so the client's base URL must end in /v1`],
    [
      '//v1/messages?beta=true',
      `: the client's base URL must not end in a slash, as the client adds /v1/messages to it`,
    ],
    ['/v1/v1/messages', ': the client adds /v1 itself, so its base URL must not end in /v1'],
    [
      '/v1/v1beta/models/g:generateContent',
      ': the client adds /v1beta itself, so its base URL must not end in /v1',
    ],
    ['/v1', ''],
    ['/v2/messages', ''],
    ['/sk-secret', ''],
  ];
  for (const [target, why] of table) {
    assert.is(resolveEndpoint('POST', target, []), undefined, target);
    assert.is(noSuchPath(target).message, `${BARE}${why}`);
  }
});

test.run();
