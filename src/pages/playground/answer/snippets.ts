/** A request as programs send it: what a visitor asks here, to be copied. They name a token and hold none. */
export interface Asked {
  query: string;
  variables: Readonly<Record<string, unknown>>;
}

type Snippet = (address: string, asked: Asked) => string;

const hasAny = (variables: object) => Object.keys(variables).length > 0;
const bodyOf = ({ query, variables }: Asked) => ({ query, ...(hasAny(variables) && { variables }) });
const quotedForShell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

const curl: Snippet = (address, asked) =>
  [
    `curl ${quotedForShell(address)}`,
    `-H 'Content-Type: application/json'`,
    `-H "Authorization: Bearer $FITGRAPH_TOKEN"`,
    `-d ${quotedForShell(JSON.stringify(bodyOf(asked)))}`,
  ].join(' \\\n  ');

const inTemplate = (text: string) => `\`${text.replaceAll(/[\\`]|\$\{/g, '\\$&')}\``;

const javascript: Snippet = (address, { query, variables }) => `import { env } from 'node:process';

const query = ${inTemplate(query)};
const response = await fetch(${JSON.stringify(address)}, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json', Authorization: \`Bearer \${env.FITGRAPH_TOKEN}\` },
  body: JSON.stringify({ query${hasAny(variables) ? `, variables: ${JSON.stringify(variables)}` : ''} }),
});
const { data, errors } = await response.json();
`;

/** A text of JSON is one of Python too; what is long is easier to read as it is. */
const inPython = (text: string) => (/\\|"""|"$/.test(text) ? JSON.stringify(text) : `"""${text}"""`);

const python: Snippet = (address, { query, variables }) => `import json, os, requests

query = ${inPython(query)}
variables = json.loads(${inPython(JSON.stringify(variables))})
answer = requests.post(
    ${JSON.stringify(address)},
    json={"query": query, "variables": variables},
    headers={"Authorization": f"Bearer {os.environ['FITGRAPH_TOKEN']}"},
)
answer.raise_for_status()
data = answer.json()["data"]
`;

/** As many dashes as it takes for the text not to end it. (https://rdrr.io/r/base/Quotes.html) */
function inR(text: string): string {
  let dashes = '';
  while (text.includes(`)${dashes}"`)) dashes += '-';
  return `r"${dashes}(${text})${dashes}"`;
}

const r: Snippet = (address, { query, variables }) => `library(httr2)

query <- ${inR(query)}
variables <- jsonlite::fromJSON(${inR(JSON.stringify(variables))}, simplifyVector = FALSE)
answer <- request(${JSON.stringify(address)}) |>
  req_auth_bearer_token(Sys.getenv("FITGRAPH_TOKEN")) |>
  req_body_json(list(query = query${hasAny(variables) ? ', variables = variables' : ''})) |>
  req_perform()
data <- resp_body_json(answer)$data
`;

export const SNIPPETS: Readonly<Record<string, Snippet>> = { curl, fetch: javascript, Python: python, R: r };
