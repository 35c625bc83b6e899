/** Controls that copy the request as a share link or as a code snippet. */
import { pick, useGraphiQL } from '@graphiql/react';
import { useState } from 'react';
import { shareUrlOf } from '../answer/sharelink';
import { SNIPPET_BUILDERS } from '../answer/snippets';
import type { ViewState } from './state';

const COPY_STATUS_TIMEOUT_MS = 3_000;

function parseVariables(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text || '{}') as Record<string, unknown>;
  } catch {
    // If the text of the variables editor is invalid JSON, it is left out of the code snippet; the editor reports the syntax error.
    return {};
  }
}

/** Copies text. Returns false if there is no Clipboard API, which requires HTTPS; the text is then shown for copying by hand. */
async function copyToClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export function ShareControls({ viewState }: { viewState: ViewState }) {
  const { queryEditor, variableEditor } = useGraphiQL(pick('queryEditor', 'variableEditor'));
  const [statusText, setStatusText] = useState('');
  const [manualText, setManualText] = useState('');
  const copyAndShowStatus = async (label: string, text: string) => {
    const isCopied = await copyToClipboard(text);
    setManualText(isCopied ? '' : text);
    setStatusText(isCopied ? `${label} copied` : '');
    if (isCopied) setTimeout(() => setStatusText(''), COPY_STATUS_TIMEOUT_MS);
  };
  const queryText = () => queryEditor?.getValue() ?? '';
  const variablesText = () => variableEditor?.getValue() ?? '';
  const createShareLink = () => {
    const { view, listPath, chart, massUnit } = viewState;
    return (
      location.origin +
      shareUrlOf({
        query: queryText(),
        variables: variablesText(),
        view,
        listPath,
        chart,
        massUnit,
      })
    );
  };
  const createSnippet = (name: string) =>
    SNIPPET_BUILDERS[name]?.(`${location.origin}/graphql`, {
      query: queryText(),
      variables: parseVariables(variablesText()),
    }) ?? '';
  return (
    <div className="share">
      <button onClick={() => void copyAndShowStatus('Link', createShareLink())}>Share link</button>
      <select
        aria-label="Copy as"
        value=""
        onChange={({ target }) => void copyAndShowStatus(target.value, createSnippet(target.value))}
      >
        <option value="" disabled>
          Copy as …
        </option>
        {Object.keys(SNIPPET_BUILDERS).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <span role="status">{statusText}</span>
      {manualText && (
        <label className="byhand">
          Copy this text manually:
          <textarea
            readOnly
            rows={4}
            value={manualText}
            onFocus={({ target }) => target.select()}
          />
          <button onClick={() => setManualText('')}>Close</button>
        </label>
      )}
    </div>
  );
}
