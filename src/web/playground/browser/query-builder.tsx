/** Panel that builds a query from checkboxes, with the explorer plugin of GraphiQL. */
import { explorerPlugin } from '@graphiql/plugin-explorer';
import { useGraphiQL } from '@graphiql/react';
import { useEffect, useRef } from 'react';
import { Loading } from './loading';

/** Text colours for the explorer plugin, whose default colours have too little contrast. */
const TEXT_COLOUR = 'hsl(var(--color-neutral))';
const SECONDARY_TEXT_COLOUR = 'hsla(var(--color-neutral), 0.76)';
const EXPLORER_COLOURS = {
  keyword: TEXT_COLOUR,
  def: TEXT_COLOUR,
  property: TEXT_COLOUR,
  qualifier: SECONDARY_TEXT_COLOUR,
  attribute: SECONDARY_TEXT_COLOUR,
  number: TEXT_COLOUR,
  string: TEXT_COLOUR,
  builtin: TEXT_COLOUR,
  string2: TEXT_COLOUR,
  variable: SECONDARY_TEXT_COLOUR,
  atom: TEXT_COLOUR,
};

const { content: Explorer } = explorerPlugin({ showAttribution: false, colors: EXPLORER_COLOURS });

/** Adds the accessible names that the inputs of the explorer plugin lack. */
function addAccessibleNames(root: HTMLElement): void {
  for (const input of root.querySelectorAll('input, select')) {
    if (!input.hasAttribute('aria-label')) {
      input.setAttribute(
        'aria-label',
        input.closest<HTMLElement>('[data-arg-name]')?.dataset.argName ?? 'Operation name',
      );
    }
  }
}

export default function QueryBuilder() {
  const containerRef = useRef<HTMLDivElement>(null);
  // The explorer plugin writes into the query editor as soon as it is rendered, so the editor must
  // exist.
  const isEditorReady = useGraphiQL(({ queryEditor }) => Boolean(queryEditor));

  useEffect(() => {
    const root = containerRef.current;

    if (!root) return;
    const observer = new MutationObserver(() => addAccessibleNames(root));

    observer.observe(root, { childList: true, subtree: true });
    addAccessibleNames(root);
    return () => observer.disconnect();
  }, []);

  return <div ref={containerRef}>{isEditorReady ? <Explorer /> : <Loading />}</div>;
}
