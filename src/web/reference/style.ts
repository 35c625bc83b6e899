/**
 * Style sheet of the API reference. It is a separate file, because the Content Security Policy of
 * the page forbids inline styles.
 */
export const REFERENCE_STYLE = `
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
