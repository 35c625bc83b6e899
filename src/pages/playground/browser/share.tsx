/** The question as a link, or as a program that asks it. */
import { pick, useGraphiQL } from '@graphiql/react';
import { useState } from 'react';
import { linkOf } from '../answer/link';
import { SNIPPETS } from '../answer/snippets';
import type { Look } from './state';

const TOLD_MS = 3_000;

function variablesIn(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text || '{}') as Record<string, unknown>;
  } catch {
    // The pane says what is wrong with it.
    return {};
  }
}

/** Where there is no clipboard, which browsers offer over https only, the text is shown to be copied by hand. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export function Share({ look }: { look: Look }) {
  const { queryEditor, variableEditor } = useGraphiQL(pick('queryEditor', 'variableEditor'));
  const [told, setTold] = useState('');
  const [shown, setShown] = useState('');
  const copy = async (what: string, text: string) => {
    const isCopied = await copied(text);
    setShown(isCopied ? '' : text);
    setTold(isCopied ? `${what} copied` : '');
    if (isCopied) setTimeout(() => setTold(''), TOLD_MS);
  };
  const query = () => queryEditor?.getValue() ?? '';
  const variables = () => variableEditor?.getValue() ?? '';
  const link = () =>
    location.origin + linkOf({ query: query(), variables: variables(), view: look.view, chart: look.chart, unit: look.unit });
  const snippet = (name: string) =>
    SNIPPETS[name]?.(`${location.origin}/graphql`, { query: query(), variables: variablesIn(variables()) }) ?? '';
  return (
    <div className="share">
      <button onClick={() => void copy('Link', link())}>Share link</button>
      <select aria-label="Copy as" value="" onChange={({ target }) => void copy(target.value, snippet(target.value))}>
        <option value="" disabled>
          Copy as …
        </option>
        {Object.keys(SNIPPETS).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <span role="status">{told}</span>
      {shown && (
        <label className="byhand">
          Copy this by hand:
          <textarea readOnly rows={4} value={shown} onFocus={({ target }) => target.select()} />
          <button onClick={() => setShown('')}>Close</button>
        </label>
      )}
    </div>
  );
}
