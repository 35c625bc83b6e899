/** Hands a file to the browser, as if it had been downloaded. */
export function save(name: string, type: string, content: string | Blob): void {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has it by then.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** The name of the tab as that of a file. */
export const fileName = (ending: string): string => {
  const [title = ''] = document.title.split(' – ');
  return `${title.replaceAll(/[^\w-]+/g, '-') || 'answer'}.${ending}`;
};
