/** The page's own assets. Files of their own, because the page allows no inline script and no inline style. */

/** What runs once Swagger UI is there; `address` is that of the OpenAPI document. */
export const script = (address: string): string => `'use strict';
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
SwaggerUIBundle({
  url: ${JSON.stringify(address)},
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 3,
  displayRequestDuration: true,
  filter: true,
  // Else the document's address is sent to a validator on another host.
  validatorUrl: null,
});
`;

export const style = `
html { color-scheme: light dark; background: #fff }
html.dark-mode { background: #1c2022 }
body { margin: 0; font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; max-width: 1420px; margin: auto; padding: .7rem 1.25rem; color: #1b1f24 }
nav a { color: #0a58ca }
nav a:first-child { font-weight: 700; text-decoration: none; color: inherit }
nav span { flex: 1 }
.dark-mode nav { color: #e6edf3 }
.dark-mode nav a { color: #79b8ff }
/* Swagger UI's own colours of the light scheme are too faint to read. */
html:not(.dark-mode) .swagger-ui .opblock:not(.opblock-options) .opblock-summary-method { color: #1b1f24; text-shadow: none }
html:not(.dark-mode) .swagger-ui .btn.authorize span { color: #0b6e4f }
html:not(.dark-mode) .swagger-ui .info .title small { background: #57606a }
html:not(.dark-mode) .swagger-ui .info .title small.version-stamp { background: #4d6b00 }
html:not(.dark-mode) .swagger-ui .info .title small pre.version { color: #fff }
html:not(.dark-mode) .swagger-ui .info .url { color: #0a58ca }
html:not(.dark-mode) .swagger-ui .parameter__in { color: #57606a }
noscript { display: block; max-width: 1420px; margin: auto; padding: 1rem 1.25rem }
`;
