/**
 * Times of pages, in the time zone that the user prefers. Without one, the server writes them in its
 * own time zone, and JavaScript shows them in that of the browser.
 */
import { DateTime } from 'luxon';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import express, { type Router } from 'express';
import { readBrowserScript } from './browser-files';

const SCRIPT_PATH = '/pages/times.js';

/** Time zone that the user of the page prefers. */
export const PreferredTimeZone = createContext<string | undefined>(undefined);

/** `text` is `time` to the day, minute or second; the local time is shown as precisely. */
export function LocalTime({ time, text }: { time: string; text?: string }) {
  const zone = useContext(PreferredTimeZone);
  const localTime = DateTime.fromISO(time, { zone }).toFormat('yyyy-MM-dd HH:mm:ss');

  return <time dateTime={time}>{zone ? localTime.slice(0, text?.length) : text}</time>;
}

export const LocalDay = ({ time }: { time: string }) => (
  <LocalTime time={time} text={time.slice(0, 'YYYY-MM-DD'.length)} />
);

/** Names the time zone of the times above. */
export const TimeZoneNote = ({ timeZone }: { timeZone: string }) => (
  <p class="help">
    Times are in the time zone <span data-time-zone="">{timeZone}</span>.
  </p>
);

export const LocalTimesScript = () =>
  useContext(PreferredTimeZone) ? null : <script src={SCRIPT_PATH} defer />;

export function localTimeRoutes(): Router {
  const script = readBrowserScript('times.js');
  const router = express.Router({ caseSensitive: true });

  router.get(SCRIPT_PATH, (_request, response) => {
    response.set('Cache-Control', 'no-cache').type('js').send(script);
  });

  return router;
}
