/** Copy buttons: there only where a script runs, because without one they could do nothing. */
export const COPY_PATH = '/pages/copy.js';

/** Beside clipboards, which browsers offer over https only, it knows the old way: the visitor's own selection. */
export const COPY_SCRIPT = `'use strict';
for (const button of document.querySelectorAll('button[data-copy]')) {
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener('click', async () => {
    const source = document.getElementById(button.dataset.copy);
    let copied = true;
    try {
      await navigator.clipboard.writeText(source.textContent);
    } catch {
      getSelection().selectAllChildren(source);
      copied = document.execCommand('copy');
    }
    button.textContent = copied ? 'Copied' : 'Selected: press Ctrl+C';
    setTimeout(() => (button.textContent = label), 3000);
  });
}
`;

/** Copies the text of the element with the id `of`. */
export function CopyButton({ of, label }: { of: string; label: string }) {
  return (
    <button type="button" class="plain" data-copy={of} aria-live="polite" hidden>
      {label}
    </button>
  );
}

export const CopyScript = () => <script src={COPY_PATH} defer />;
