/** Downloads generated content as a file. */
export function downloadFile(name: string, mediaType: string, content: string | Blob): void {
  const url = URL.createObjectURL(
    content instanceof Blob ? content : new Blob([content], { type: mediaType }),
  );
  const link = document.createElement('a');

  link.href = url;
  link.download = name;
  link.click();
  // The download may start only after this function has returned.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** File name from the page title, which starts with the name of the active tab. */
export const fileNameForDownload = (extension: string): string => {
  const [title = ''] = document.title.split(' – ');

  return `${title.replaceAll(/[^\w-]+/g, '-') || 'answer'}.${extension}`;
};
