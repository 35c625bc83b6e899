/** Buttons that copy text to the clipboard. Copying needs JavaScript, so without JavaScript the buttons stay hidden. */
export const COPY_SCRIPT_PATH = '/pages/copy.js';

/** Browser script: copies with the Clipboard API, which requires HTTPS. Falls back to selecting the text and `execCommand('copy')`. */
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

export function CopyButton({ sourceId, label }: { sourceId: string; label: string }) {
  return (
    <button type="button" class="plain" data-copy={sourceId} aria-live="polite" hidden>
      {label}
    </button>
  );
}

export const CopyScript = () => <script src={COPY_SCRIPT_PATH} defer />;
