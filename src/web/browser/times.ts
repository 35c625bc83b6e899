/** Shows the times of a page in the time zone of the browser, and names that zone. */
// The Swedish format is that of ISO 8601, with a space.
const FORMAT_LOCALE = 'sv-SE';
const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
const zoneNote = document.querySelector('[data-time-zone]');

for (const element of document.querySelectorAll<HTMLTimeElement>('time[datetime]')) {
  const time = new Date(element.dateTime);
  const hasSeconds = element.textContent.length > 'YYYY-MM-DD hh:mm'.length;

  element.textContent = time.toLocaleString(FORMAT_LOCALE, {
    dateStyle: 'short',
    timeStyle: hasSeconds ? 'medium' : 'short',
  });
}

if (zoneNote) zoneNote.textContent = timeZone;
