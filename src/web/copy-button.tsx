/**
 * Buttons that copy text to the clipboard. They stay hidden until the script shows them, because
 * copying needs JavaScript.
 */
export const COPY_SCRIPT_PATH = '/pages/copy.js';

export function CopyButton({ sourceId, label }: { sourceId: string; label: string }) {
  return (
    <button type="button" class="plain" data-copy={sourceId} aria-live="polite" hidden>
      {label}
    </button>
  );
}

export const CopyScript = () => <script src={COPY_SCRIPT_PATH} defer />;
