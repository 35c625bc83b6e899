/** Script and style sheet of the API reference: separate files, because its content security policy forbids inline scripts and styles. */

export const swaggerStartScript = (documentUrl: string): string => `'use strict';
const dark = matchMedia('(prefers-color-scheme: dark)');
const applyColourScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', applyColourScheme);
applyColourScheme();
// Present if the visitor is signed in. The session cookie authenticates requests only together with this token.
const csrfToken = document.querySelector('meta[name="csrf-token"]')?.content;
// Replaces links in buttons by plain text: keyboards and screen readers cannot reach them, and the button does the same.
const PlainPathsPlugin = () => ({
  wrapComponents: { DeepLink: (_link, { React }) => ({ text }) => React.createElement('span', null, text) },
});
// Adds accessible names to inputs, and makes scrollable elements focusable.
const reference = document.getElementById('reference');
const improveAccessibility = () => {
  reference.querySelector('#servers')?.setAttribute('aria-label', 'Server');
  for (const body of reference.querySelectorAll('.body-param__text')) body.setAttribute('aria-label', 'Request body');
  for (const choice of reference.querySelectorAll('[data-param-name] select'))
    choice.setAttribute('aria-label', choice.closest('[data-param-name]').dataset.paramName);
  for (const text of reference.querySelectorAll(':is(pre, .headers-wrapper):not([tabindex])')) text.tabIndex = 0;
};
new MutationObserver(improveAccessibility).observe(reference, { childList: true, subtree: true });
// Offers only the API key under "Authorize": browsers send session cookies by themselves.
const onlyScheme = (name) => (requirements = []) => requirements.filter((requirement) => Object.keys(requirement).every((key) => key === name));
const withKeyOnly = (description) => {
  const { securitySchemes } = description.components;
  description.components.securitySchemes = { token: securitySchemes.token };
  for (const operation of Object.values(description.paths).flatMap((path) => Object.values(path)))
    if (operation.security) operation.security = onlyScheme('token')(operation.security);
  return description;
};
// Accepts the API key with or without the prefix 'Token'.
const withPrefix = (key) => (/^token\\s/i.test(key.trim()) ? key.trim() : 'Token ' + key.trim());
const KeyPrefixPlugin = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        authorize: (authorize) => (credentials) => authorize({ token: { ...credentials.token, value: withPrefix(credentials.token.value) } }),
      },
    },
  },
});
const start = (spec) => SwaggerUIBundle({
  spec,
  dom_id: '#reference',
  deepLinking: true,
  plugins: [PlainPathsPlugin, KeyPrefixPlugin],
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 3,
  displayRequestDuration: true,
  filter: true,
  // By default, Swagger UI sends the URL of the document to a validator on another host.
  validatorUrl: null,
  requestInterceptor(request) {
    if (csrfToken) request.headers['X-CSRFToken'] = csrfToken;
    return request;
  },
  // The curl commands must not contain the CSRF token of this session.
  showMutatedRequest: false,
});
fetch(${JSON.stringify(documentUrl)})
  .then((response) => response.json())
  .then((description) => start(withKeyOnly(description)));
`;

export const API_DOCS_STYLE = `
html, html.dark-mode { background: var(--bg) }
#content { padding-bottom: 4rem }
#content > h1 { margin: 1rem 0 .5rem; font-size: 1.7rem; line-height: 1.25 }
#content > .lead { margin: 0; color: var(--muted) }
#content > .lead a, noscript a { color: var(--link) }
.swagger-ui .wrapper { max-width: none; padding: 0 }
.swagger-ui .wrapper > section > .block, .swagger-ui .wrapper .col-12 { padding: 0 }
.swagger-ui .information-container .info { margin: 1rem 0 }
#content .swagger-ui { background: none }
#content .swagger-ui .scheme-container { margin: 0; padding: 1rem 0; background: none; box-shadow: none }
/* The title and the links to the document are shown by the page itself. */
.swagger-ui .info .main { display: none }
@media (max-width: 45rem) {
  .swagger-ui .opblock-tag { flex-wrap: wrap; padding: .6rem 0 }
  .swagger-ui .opblock-tag > small { order: 1; flex: 0 0 100%; padding: 0 }
  .swagger-ui .opblock-tag .expand-operation { margin-left: auto }
  .swagger-ui .headers-wrapper { width: 0; min-width: 100%; overflow-x: auto }
}
/* Swagger UI sets no colour for these headings in dark mode. */
html.dark-mode .swagger-ui .header-col { color: var(--fg) }
/* The light-mode colours of Swagger UI have too little contrast. */
html:not(.dark-mode) .swagger-ui .opblock:not(.opblock-options) .opblock-summary-method { color: #1b1f24; text-shadow: none }
html:not(.dark-mode) .swagger-ui .btn.authorize span { color: #0b6e4f }
html:not(.dark-mode) .swagger-ui .parameter__in { color: #57606a }
.swagger-ui .btn.execute { background: #0a58ca; border-color: #0a58ca; color: #fff }
#content .swagger-ui .opblock .btn.cancel, #content .swagger-ui .opblock .btn.cancel:hover { border-color: var(--bad); color: var(--bad) }
.swagger-ui .filter .operation-filter-input { width: 100%; margin: 1rem 0 }
.swagger-ui .filter .wrapper, .swagger-ui .filter-container { padding: 0 }
.swagger-ui .download-contents { background: #1b1f24; color: #fff }
`;
