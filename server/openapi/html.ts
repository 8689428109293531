/**
 * Shared parts of both kinds of documentation page: escaping, style, and the content security
 * policy.
 */
import { createHash } from 'node:crypto';

export const STYLE = `
:root { color-scheme: light dark; --line: #d8dce2; --soft: #f4f6f8; --ink: #1c2127; --dim: #59626e; --mark: #0b6bcb; }
@media (prefers-color-scheme: dark) { :root { --line: #343b45; --soft: #1e242b; --ink: #e6e9ee; --dim: #9aa5b3; --mark: #6db3ff; } }
html { background: Canvas; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 4rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); }
a { color: var(--mark); }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
main { overflow-wrap: break-word; }
main > h1:first-child { margin-top: 1rem; }
pre { overflow-x: auto; background: var(--soft); border-radius: .5rem; padding: .8rem 1rem; line-height: 1.4; font-size: .88rem; }
pre code { overflow-wrap: normal; }
li code, p code, td code { background: var(--soft); border-radius: .25rem; padding: 0 .2rem; }
.wide { overflow-x: auto; }
main img { display: block; max-width: 100%; height: auto; border: 1px solid var(--line); border-radius: .5rem; }
main :is(td, th) code { overflow-wrap: break-word; }
[aria-current] { color: var(--ink); font-weight: 700; text-decoration: none; }
nav ul { columns: 16rem; padding: 0; list-style: none; }
details { border: 1px solid var(--line); border-radius: .5rem; margin: .6rem 0; }
summary { cursor: pointer; padding: .6rem .8rem; }
summary b { display: inline-block; min-width: 3.2rem; font: 700 .8rem ui-monospace, monospace; color: var(--mark); }
summary span { color: var(--dim); margin-left: .6rem; }
.inside { padding: 0 1rem 1rem; border-top: 1px solid var(--line); }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
td, th { text-align: left; vertical-align: top; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); }
.dim { color: var(--dim); }
.day { white-space: nowrap; }
.key { background: var(--soft); border-radius: .3rem; padding: .1rem .4rem; font-size: .8rem; }
:is(h1, h2, h3, h4) { scroll-margin-top: 4rem; }
.anchor { margin-left: .4rem; color: var(--dim); text-decoration: none; opacity: 0; }
:is(h1, h2, h3, h4):hover .anchor, .anchor:focus { opacity: 1; }
.docs { max-width: 92rem; padding: 0 1.2rem 4rem; display: grid; grid-template: "head head head" auto "pages text parts" 1fr / 13rem minmax(0, 1fr) 11rem; column-gap: 2rem; }
.docs > header { grid-area: head; position: sticky; top: 0; z-index: 2; display: flex; gap: 1rem; align-items: center; padding: .6rem 0; background: Canvas; border-bottom: 1px solid var(--line); }
.home { font-weight: 700; font-size: 1.2rem; text-decoration: none; color: var(--ink); }
.menu, .close { display: none; }
.search { position: relative; flex: 1; max-width: 34rem; margin: 0 auto; }
.search input { width: 100%; font: inherit; color: inherit; background: var(--soft); border: 1px solid var(--line); border-radius: .5rem; padding: .35rem .7rem; }
#found { position: absolute; inset: 110% 0 auto; max-height: 70vh; overflow: auto; background: Canvas; border: 1px solid var(--line); border-radius: .5rem; box-shadow: 0 .5rem 1.5rem #0004; }
#found > * { display: block; margin: 0; padding: .5rem .8rem; text-decoration: none; }
#found a:is(:hover, :focus) { background: var(--soft); outline: none; }
#found b { display: block; }
#found span { display: block; color: var(--dim); font-size: .85rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
#pages, #parts { font-size: .92rem; align-self: start; position: sticky; top: 3.6rem; max-height: calc(100vh - 3.6rem); overflow: auto; padding: 1rem 0; }
#pages { grid-area: pages; }
#parts { grid-area: parts; }
#pages h2, #parts h2 { margin: 1rem 0 .2rem; border: 0; padding: 0; font-size: .78rem; letter-spacing: .05em; text-transform: uppercase; color: var(--dim); }
#pages ul, #parts ul { columns: auto; margin: 0; }
#pages li a, #parts li a { display: block; padding: .12rem .5rem; margin-left: -.5rem; border-radius: .3rem; text-decoration: none; color: var(--ink); }
#pages li a:hover, #parts li a:hover, #pages [aria-current] { background: var(--soft); }
.docs > main { grid-area: text; min-width: 0; padding-top: .6rem; max-width: 54rem; }
.copy { position: relative; }
.copy button { position: absolute; top: .4rem; right: .4rem; font: inherit; font-size: .78rem; color: var(--ink); background: Canvas; border: 1px solid var(--line); border-radius: .35rem; padding: .1rem .5rem; opacity: 0; cursor: pointer; }
.copy:hover button, .copy button:focus { opacity: 1; }
.turns { display: flex; justify-content: space-between; gap: 1rem; margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); }
.turns small { display: block; color: var(--dim); }
.turns [rel=next] { text-align: right; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .5rem; z-index: 3; background: Canvas; padding: .3rem .6rem; }
@media (max-width: 75rem) { .docs { grid-template: "head head" auto "pages text" 1fr / 14rem minmax(0, 1fr); } #parts { display: none; } }
@media (max-width: 50rem) { .docs { display: block; } .menu { display: block; } #pages { display: none; } #pages:target { display: block; position: fixed; inset: 0; z-index: 4; align-self: stretch; height: 100dvh; max-height: none; background: Canvas; padding: 1rem 1.2rem; font-size: 1rem; } #pages li a { padding: .35rem .5rem; } .close { display: block; text-align: right; } .copy button { opacity: 1; } .copy pre { padding-top: 2.2rem; } .docs > header { gap: .7rem; } .search { position: static; } #found { inset: 100% 0 auto; } }
@media (max-width: 40rem) { main thead { position: absolute; clip-path: inset(50%); } main td:first-child { font-weight: 600; } main td:first-child code { overflow-wrap: anywhere; } summary span { display: block; margin: .2rem 0 0; } td, th { display: block; border: 0; } tr { border-bottom: 1px solid var(--line); display: block; } }
`;

/**
 * What a page may load: its own style and pictures, the script of the documentation and what that
 * searches.
 */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
