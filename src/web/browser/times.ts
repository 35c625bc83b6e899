/** Shows the times of a page in the time zone of the browser, and names that zone. */
// The Swedish format is that of ISO 8601, with a space.
const FORMAT_LOCALE = 'sv-SE';
const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
const zoneNote = document.querySelector('[data-time-zone]');

for (const element of document.querySelectorAll<HTMLTimeElement>('time[datetime]')) {
  const time = new Date(element.dateTime);

  element.textContent = time.toLocaleString(FORMAT_LOCALE, {
    dateStyle: 'short',
    timeStyle: timeStyleOf(element.textContent),
  });
}

function timeStyleOf({ length }: string): 'short' | 'medium' | undefined {
  if (length <= 'YYYY-MM-DD'.length) return undefined;

  return length > 'YYYY-MM-DD hh:mm'.length ? 'medium' : 'short';
}

if (zoneNote) zoneNote.textContent = timeZone;
