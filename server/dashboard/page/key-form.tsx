/** Asks for a proxy key where the proxy wants one. */
import { useState } from 'preact/hooks';
import { needsKey, proxyKey } from './api.ts';

export function KeyForm() {
  const [typed, setTyped] = useState('');
  return (
    <form
      class="card narrow"
      onSubmit={(event) => {
        event.preventDefault();
        needsKey.set(false);
        proxyKey.set(typed.trim());
      }}
    >
      <h1>This proxy wants a key</h1>
      <p>
        <code>svc auth create</code> makes one. It is kept in this tab until it is closed or loaded
        anew.
      </p>
      <label>
        Proxy key
        <input
          type="password"
          autocomplete="off"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
      <button type="submit" disabled={typed.trim() === ''}>
        Open
      </button>
    </form>
  );
}
