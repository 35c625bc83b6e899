/** Starts Swagger UI on the page of the API reference. */
interface DeepLinkProps {
  text: string;
}

interface React {
  createElement(element: string, props: null, text: string): unknown;
}

interface OpenApiDocument {
  components: { securitySchemes: Record<string, unknown> };
  paths: Record<string, Record<string, { security?: Record<string, unknown>[] }>>;
}

interface Credentials {
  token: { value: string };
}

/** Global function that swagger-ui-bundle.js defines. */
declare const SwaggerUIBundle: (options: Record<string, unknown>) => void;

const darkMode = matchMedia('(prefers-color-scheme: dark)');
const applyColourScheme = () =>
  document.documentElement.classList.toggle('dark-mode', darkMode.matches);

darkMode.addEventListener('change', applyColourScheme);
applyColourScheme();

// The session cookie of a signed-in visitor authenticates requests only together with this token.
const csrfToken = document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')?.content;

// Replaces links inside buttons by plain text, because keyboards and screen readers cannot reach
// them.
const PlainPathsPlugin = () => ({
  wrapComponents: {
    DeepLink:
      (_link: unknown, { React }: { React: React }) =>
      ({ text }: DeepLinkProps) =>
        React.createElement('span', null, text),
  },
});

const reference = document.getElementById('reference')!;

/** Adds accessible names to inputs, and makes scrollable elements focusable. */
const improveAccessibility = () => {
  reference.querySelector('#servers')?.setAttribute('aria-label', 'Server');

  for (const body of reference.querySelectorAll('.body-param__text')) {
    body.setAttribute('aria-label', 'Request body');
  }

  for (const select of reference.querySelectorAll('[data-param-name] select')) {
    select.setAttribute(
      'aria-label',
      select.closest<HTMLElement>('[data-param-name]')!.dataset.paramName!,
    );
  }

  for (const element of reference.querySelectorAll<HTMLElement>(
    ':is(pre, .headers-wrapper):not([tabindex])',
  )) {
    element.tabIndex = 0;
  }
};

new MutationObserver(improveAccessibility).observe(reference, { childList: true, subtree: true });

/**
 * Offers only the API key under "Authorize", because browsers send session cookies by themselves.
 */
function keepOnlyApiKey(description: OpenApiDocument): OpenApiDocument {
  const { securitySchemes } = description.components;

  description.components.securitySchemes = { token: securitySchemes.token };

  for (const operation of Object.values(description.paths).flatMap((path) => Object.values(path))) {
    operation.security &&= operation.security.filter((requirement) =>
      Object.keys(requirement).every((key) => key === 'token'),
    );
  }

  return description;
}

/** Accepts the API key with or without the prefix 'Token'. */
const addTokenPrefix = (key: string) =>
  /^token\s/i.test(key.trim()) ? key.trim() : `Token ${key.trim()}`;
const KeyPrefixPlugin = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        authorize:
          (authorize: (credentials: Credentials) => unknown) => (credentials: Credentials) =>
            authorize({
              token: { ...credentials.token, value: addTokenPrefix(credentials.token.value) },
            }),
      },
    },
  },
});

async function start(): Promise<void> {
  const response = await fetch(reference.dataset.document!);

  SwaggerUIBundle({
    spec: keepOnlyApiKey((await response.json()) as OpenApiDocument),
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
    requestInterceptor(request: { headers: Record<string, string> }) {
      if (csrfToken) request.headers['X-CSRFToken'] = csrfToken;

      return request;
    },
    // Keeps the CSRF token of the session out of the curl commands.
    showMutatedRequest: false,
  });
}

void start();
