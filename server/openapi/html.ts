/** What both kinds of documentation page share: escaping, style, and the policy that follows from it. */
import { createHash } from 'node:crypto';

export const STYLE = `
:root { color-scheme: light dark; --line: #d8dce2; --soft: #f4f6f8; --ink: #1c2127; --dim: #59626e; --mark: #0b6bcb; }
@media (prefers-color-scheme: dark) { :root { --line: #343b45; --soft: #1e242b; --ink: #e6e9ee; --dim: #9aa5b3; --mark: #6db3ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 4rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); }
a { color: var(--mark); }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
main { overflow-wrap: break-word; }
main > h1:first-child { margin-top: 1rem; }
pre { overflow-x: auto; background: var(--soft); border-radius: .5rem; padding: .8rem 1rem; line-height: 1.35; }
pre code { overflow-wrap: normal; }
li code, p code, td code { background: var(--soft); border-radius: .25rem; padding: 0 .2rem; }
.wide { overflow-x: auto; }
main :is(td, th) code { overflow-wrap: break-word; }
[aria-current] { color: var(--ink); font-weight: 700; text-decoration: none; }
.guides nav, .guides p { padding: 0 .8rem; }
nav ul { columns: 16rem; padding: 0; list-style: none; }
details { border: 1px solid var(--line); border-radius: .5rem; margin: .6rem 0; }
summary { cursor: pointer; padding: .6rem .8rem; }
summary b { display: inline-block; min-width: 3.2rem; font: 700 .8rem ui-monospace, monospace; color: var(--mark); }
summary span { color: var(--dim); margin-left: .6rem; }
.inside { padding: 0 1rem 1rem; border-top: 1px solid var(--line); }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
td, th { text-align: left; vertical-align: top; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); }
.dim { color: var(--dim); }
.key { background: var(--soft); border-radius: .3rem; padding: .1rem .4rem; font-size: .8rem; }
@media (max-width: 40rem) { main thead { position: absolute; clip-path: inset(50%); } main td:first-child { font-weight: 600; } main td:first-child code { overflow-wrap: anywhere; } summary span { display: block; margin: .2rem 0 0; } td, th { display: block; border: 0; } tr { border-bottom: 1px solid var(--line); display: block; } }
`;

/** What a page may load: its own style, and nothing else. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
