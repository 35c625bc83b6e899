/** Controls that copy the request as a share link or a code snippet. */
import { pick, useGraphiQL } from '@graphiql/react';
import { useState } from 'react';
import { shareUrlOf } from '../answer/share-link';
import { SNIPPET_BUILDERS } from '../answer/snippets';
import { BASE_PATH } from './base-path';
import type { ViewState } from './state';

const COPY_STATUS_TIMEOUT_MS = 3_000;

function parseVariables(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text || '{}') as Record<string, unknown>;
  } catch {
    // Snippets omit invalid JSON, which the variables editor reports.
    return {};
  }
}

/**
 * Copies text, if the browser has the Clipboard API, which requires HTTPS. Otherwise the text is
 * shown for copying by hand.
 */
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
      BASE_PATH +
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
    SNIPPET_BUILDERS[name]?.(`${location.origin}${BASE_PATH}/graphql`, {
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
