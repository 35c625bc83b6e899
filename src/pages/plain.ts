/** What a browser is shown of an API answer: the JSON, readable. */
import escape from 'escape-html';
import type { HtmlView } from '../rest/router';

export function plainPage({ title, status, body, allow }: HtmlView): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} – Fitgraph</title>
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}pre{overflow:auto}</style>
</head>
<body>
<h1>${escape(title)}</h1>
<p>Status ${status}. Methods: ${escape(allow.join(', '))}.</p>
<pre>${escape(JSON.stringify(body, null, 2))}</pre>
</body>
</html>
`;
}
