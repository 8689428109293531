/** Entry point of the dashboard in the browser. */
import { render } from 'preact';
import { App } from './frame/app.tsx';

const root = document.getElementById('app');
if (root !== null) {
  root.textContent = '';
  render(<App />, root);
}
