/** Asks for a proxy key if one is required, or logs in with the link that was opened. */
import { useEffect, useState } from 'preact/hooks';
import { ResponseError, logIn } from '../api.ts';
import { addressOf, go } from './location.ts';

/** `link` is the token of a single-use link. */
export function KeyForm({ link }: { readonly link?: string }) {
  const [typed, setTyped] = useState('');
  const [fault, setFault] = useState<string>();
  const [isAsking, setAsking] = useState(false);

  const enter = async (proof: Parameters<typeof logIn>[0]): Promise<void> => {
    setAsking(true);
    setFault(undefined);
    try {
      await logIn(proof);
      if (link !== undefined) go(addressOf(''), true);
    } catch (thrown) {
      setFault(faultOf(thrown, 'link' in proof));
      setAsking(false);
    }
  };
  useEffect(() => {
    if (link !== undefined && link !== '') void enter({ link });
  }, [link]);

  return (
    <form
      class="card narrow"
      aria-busy={isAsking}
      onSubmit={(event) => {
        event.preventDefault();
        void enter({ key: typed.trim() });
      }}
    >
      <h1>Log in to this proxy</h1>
      <p>
        It shows its dashboard to people who have one of its keys. Type the key that your client
        sends to this proxy; it begins with <code>svc_</code>. A key of a provider does not work
        here.
      </p>
      <p>
        You have none? On the machine of the proxy, <code>svc auth --generate</code> creates one,
        and <code>svc dashboard --public</code> prints a link that lets one browser in without a
        key. <a href="/docs">Documentation</a>
      </p>
      <label>
        Proxy key
        <input
          type="password"
          autocomplete="off"
          placeholder="svc_…"
          value={typed}
          {...(fault !== undefined && { 'aria-invalid': true, 'aria-describedby': 'key-fault' })}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
      {fault !== undefined && (
        <p class="fault" id="key-fault" role="alert">
          {fault}
        </p>
      )}
      <button type="submit" disabled={typed.trim() === '' || isAsking}>
        Log in
      </button>
    </form>
  );
}

function faultOf(thrown: unknown, isLink: boolean): string {
  if (!(thrown instanceof ResponseError)) return 'The proxy does not answer.';
  if (thrown.status === 401)
    return isLink
      ? 'This link was used before, or is older than five minutes.'
      : 'This key is not valid here.';
  return thrown.message;
}
