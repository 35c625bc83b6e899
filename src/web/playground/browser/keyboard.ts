/** Keyboard access: leaving the editors with Tab, targets of the skip links, and focus after dialogs. */
import { pick, useGraphiQL } from '@graphiql/react';
import { useEffect } from 'react';
import { ANSWER_ID, QUERY_ID } from '../answer/landmarks';

/**
 * After Escape, Tab moves the focus out of an editor instead of indenting, until another key is
 * pressed (https://www.w3.org/WAI/WCAG22/Understanding/no-keyboard-trap).
 */
function useTabAfterEscape(): void {
  const { queryEditor, variableEditor, headerEditor } = useGraphiQL(
    pick('queryEditor', 'variableEditor', 'headerEditor'),
  );

  useEffect(() => {
    const editors = [queryEditor, variableEditor, headerEditor];
    const subscriptions = editors.map((editor) => {
      let followsEscape = false;

      return editor?.onKeyDown(({ browserEvent }) => {
        // Without propagation, the editor has no command for Tab, and the browser moves the focus.
        if (browserEvent.key === 'Tab' && followsEscape) browserEvent.stopPropagation();
        else if (browserEvent.key !== 'Shift') followsEscape = browserEvent.key === 'Escape';
      });
    });

    return () => {
      for (const subscription of subscriptions) subscription?.dispose();
    };
  }, [queryEditor, variableEditor, headerEditor]);
}

/** Makes elements of GraphiQL the targets of the skip links of the page. */
function useSkipTargets(): void {
  useEffect(() => {
    for (const [selector, id] of [
      ['.graphiql-editors', QUERY_ID],
      ['.answer', ANSWER_ID],
    ] as const) {
      const element = document.querySelector<HTMLElement>(selector);

      element?.setAttribute('id', id);
      element?.setAttribute('tabindex', '-1');
    }
  }, []);
}

const dialogAround = (element: EventTarget | null) =>
  element instanceof Element ? element.closest('[role="dialog"]') : null;

/** Returns the focus to the button that opened a dialog, which GraphiQL leaves to the page body. */
function useFocusAfterDialog(): void {
  useEffect(() => {
    let opener: HTMLElement | undefined;

    const rememberOpener = ({ target, relatedTarget }: FocusEvent) => {
      const isEntered = dialogAround(target) && !dialogAround(relatedTarget);

      if (isEntered && relatedTarget instanceof HTMLElement) opener = relatedTarget;
    };

    const observer = new MutationObserver(() => {
      if (!opener || document.querySelector('[role="dialog"]')) return;
      if (document.activeElement === document.body) opener.focus();
      opener = undefined;
    });

    document.addEventListener('focusin', rememberOpener);
    observer.observe(document.body, { childList: true });

    return () => {
      document.removeEventListener('focusin', rememberOpener);
      observer.disconnect();
    };
  }, []);
}

export function useKeyboardAccess(): void {
  useTabAfterEscape();
  useSkipTargets();
  useFocusAfterDialog();
}
