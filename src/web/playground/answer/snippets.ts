/**
 * Code snippets that send a GraphQL request. They read the access token from an environment
 * variable.
 */
export interface SnippetRequest {
  query: string;
  variables: Readonly<Record<string, unknown>>;
}

type SnippetBuilder = (endpointUrl: string, request: SnippetRequest) => string;

const hasEntries = (variables: object) => Object.keys(variables).length > 0;
const requestBodyOf = ({ query, variables }: SnippetRequest) => ({
  query,
  ...(hasEntries(variables) && { variables }),
});
const quoteShell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

const curlSnippet: SnippetBuilder = (endpointUrl, request) =>
  [
    `curl ${quoteShell(endpointUrl)}`,
    `-H 'Content-Type: application/json'`,
    `-H "Authorization: Bearer $FITGRAPH_TOKEN"`,
    `-d ${quoteShell(JSON.stringify(requestBodyOf(request)))}`,
  ].join(' \\\n  ');

const quoteTemplateLiteral = (text: string) => `\`${text.replaceAll(/[\\`]|\$\{/g, '\\$&')}\``;

const javascriptSnippet: SnippetBuilder = (endpointUrl, { query, variables }) => {
  const variablesProperty = hasEntries(variables)
    ? `, variables: ${JSON.stringify(variables)}`
    : '';

  return `import { env } from 'node:process';

const query = ${quoteTemplateLiteral(query)};
const response = await fetch(${JSON.stringify(endpointUrl)}, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json', Authorization: \`Bearer \${env.FITGRAPH_TOKEN}\` },
  body: JSON.stringify({ query${variablesProperty} }),
});
const { data, errors } = await response.json();
`;
};

/**
 * Quotes a string in triple quotes if possible, otherwise as a JSON string, which is valid Python
 * too.
 */
const quotePython = (text: string) =>
  /\\|"""|"$/.test(text) ? JSON.stringify(text) : `"""${text}"""`;

const pythonSnippet: SnippetBuilder = (
  endpointUrl,
  { query, variables },
) => `import json, os, requests

query = ${quotePython(query)}
variables = json.loads(${quotePython(JSON.stringify(variables))})
response = requests.post(
    ${JSON.stringify(endpointUrl)},
    json={"query": query, "variables": variables},
    headers={"Authorization": f"Bearer {os.environ['FITGRAPH_TOKEN']}"},
)
response.raise_for_status()
data = response.json()["data"]
`;

/**
 * Quotes an R raw string with enough dashes that its content cannot end it
 * (https://rdrr.io/r/base/Quotes.html).
 */
function quoteRString(text: string): string {
  let rawStringDashes = '';

  while (text.includes(`)${rawStringDashes}"`)) rawStringDashes += '-';
  return `r"${rawStringDashes}(${text})${rawStringDashes}"`;
}

const rSnippet: SnippetBuilder = (endpointUrl, { query, variables }) => `library(httr2)

query <- ${quoteRString(query)}
variables <- jsonlite::fromJSON(${quoteRString(JSON.stringify(variables))}, simplifyVector = FALSE)
response <- request(${JSON.stringify(endpointUrl)}) |>
  req_auth_bearer_token(Sys.getenv("FITGRAPH_TOKEN")) |>
  req_body_json(list(query = query${hasEntries(variables) ? ', variables = variables' : ''})) |>
  req_perform()
data <- resp_body_json(response)$data
`;

export const SNIPPET_BUILDERS: Readonly<Record<string, SnippetBuilder>> = {
  curl: curlSnippet,
  fetch: javascriptSnippet,
  Python: pythonSnippet,
  R: rSnippet,
};
