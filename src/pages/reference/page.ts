/** The frame into which Swagger UI draws the reference; without JavaScript it leads to the document. */

interface Addresses {
  api: string;
  /** Of the OpenAPI document, without an ending. */
  document: string;
  /** Folder of the assets. */
  assets: string;
}

export const page = ({ api, document, assets }: Addresses): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Reference of the REST API – Fitgraph</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets}/swagger-ui.css">
<link rel="stylesheet" href="${assets}/page.css">
<script src="${assets}/swagger-ui-bundle.js" defer></script>
<script src="${assets}/start.js" defer></script>
</head>
<body>
<header>
<nav aria-label="Main">
<a href="/">Fitgraph</a>
<a href="${api}/">REST API</a>
<a href="/playground">Playground</a>
<span></span>
<a href="${document}.json">JSON</a>
<a href="${document}.yaml">YAML</a>
</nav>
</header>
<div id="reference">
<noscript>The reference needs JavaScript. All that it shows is in the OpenAPI document, as <a href="${document}.json">JSON</a> or
<a href="${document}.yaml">YAML</a>, which many tools read.</noscript>
</div>
</body>
</html>
`;
