/**
 * The page's frame: a document without data, which may therefore be shown to anyone who follows a
 * link to it. It may only load its own script, style and icon.
 */

/** Paths of the page's files. */
export const ASSET_PATHS = {
  script: '/dashboard/app.js',
  style: '/dashboard/app.css',
  icon: '/dashboard/icon.svg',
} as const;

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Headers of all files of the page. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': POLICY,
  'Cache-Control': 'no-cache',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
};

export const SHELL = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>svc</title>
<link rel="icon" href="${ASSET_PATHS.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${ASSET_PATHS.style}">
<script type="module" src="${ASSET_PATHS.script}"></script>
</head>
<body>
<div id="app"><noscript><p>The dashboard needs JavaScript. The same figures are at <a href="/stats">/stats</a> and in <code>svc stats</code>.</p></noscript></div>
</body>
</html>
`;

/** Three lines of decreasing length: a request shrinking on its way through svc. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0f766e"/><g fill="#fff"><rect x="7" y="8" width="18" height="4" rx="2"/><rect x="7" y="14" width="12" height="4" rx="2"/><rect x="7" y="20" width="6" height="4" rx="2"/></g></svg>
`;
