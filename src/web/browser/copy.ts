/**
 * Copies text to the clipboard. Without the Clipboard API, which requires HTTPS, it selects the
 * text and calls `execCommand('copy')`.
 */
for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
  const label = button.textContent;

  const copy = async () => {
    const source = document.getElementById(button.dataset.copy!)!;
    let isCopied = true;

    try {
      await navigator.clipboard.writeText(source.textContent);
    } catch {
      getSelection()!.selectAllChildren(source);
      isCopied = document.execCommand('copy');
    }

    button.textContent = isCopied ? 'Copied' : 'Selected: press Ctrl+C';
    setTimeout(() => (button.textContent = label), 3000);
  };

  button.hidden = false;
  button.addEventListener('click', () => void copy());
}
