/** Code snippets that send a GraphQL request with curl, JavaScript, Python or R. They read the access token from an environment variable. */
export interface SnippetRequest {
  query: string;
  variables: Readonly<Record<string, unknown>>;
}

type SnippetBuilder = (address: string, request: SnippetRequest) => string;

const hasEntries = (variables: object) => Object.keys(variables).length > 0;
const bodyOf = ({ query, variables }: SnippetRequest) => ({ query, ...(hasEntries(variables) && { variables }) });
const quoteShell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

const curlSnippet: SnippetBuilder = (address, request) =>
  [
    `curl ${quoteShell(address)}`,
    `-H 'Content-Type: application/json'`,
    `-H "Authorization: Bearer $FITGRAPH_TOKEN"`,
    `-d ${quoteShell(JSON.stringify(bodyOf(request)))}`,
  ].join(' \\\n  ');

const quoteTemplate = (text: string) => `\`${text.replaceAll(/[\\`]|\$\{/g, '\\$&')}\``;

const javascriptSnippet: SnippetBuilder = (address, { query, variables }) => `import { env } from 'node:process';

const query = ${quoteTemplate(query)};
const response = await fetch(${JSON.stringify(address)}, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json', Authorization: \`Bearer \${env.FITGRAPH_TOKEN}\` },
  body: JSON.stringify({ query${hasEntries(variables) ? `, variables: ${JSON.stringify(variables)}` : ''} }),
});
const { data, errors } = await response.json();
`;

/** Quotes a string in triple quotes or, if it contains characters that these do not allow, as a JSON string, which is valid in Python. */
const quotePython = (text: string) => (/\\|"""|"$/.test(text) ? JSON.stringify(text) : `"""${text}"""`);

const pythonSnippet: SnippetBuilder = (address, { query, variables }) => `import json, os, requests

query = ${quotePython(query)}
variables = json.loads(${quotePython(JSON.stringify(variables))})
response = requests.post(
    ${JSON.stringify(address)},
    json={"query": query, "variables": variables},
    headers={"Authorization": f"Bearer {os.environ['FITGRAPH_TOKEN']}"},
)
response.raise_for_status()
data = response.json()["data"]
`;

/** Quotes a string as an R raw string, with enough dashes that its content cannot end it. (https://rdrr.io/r/base/Quotes.html) */
function quoteR(text: string): string {
  let dashes = '';
  while (text.includes(`)${dashes}"`)) dashes += '-';
  return `r"${dashes}(${text})${dashes}"`;
}

const rSnippet: SnippetBuilder = (address, { query, variables }) => `library(httr2)

query <- ${quoteR(query)}
variables <- jsonlite::fromJSON(${quoteR(JSON.stringify(variables))}, simplifyVector = FALSE)
response <- request(${JSON.stringify(address)}) |>
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
