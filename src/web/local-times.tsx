/**
 * Times of pages. The server writes them in its own time zone; with JavaScript, they are shown in
 * that of the browser.
 */
import express, { type Router } from 'express';
import { readBrowserScript } from './browser-files';

const SCRIPT_PATH = '/pages/times.js';

/** `text` is `time` to the day, minute or second; the browser shows its own time as precisely. */
export const LocalTime = ({ time, text }: { time: string; text?: string }) => (
  <time dateTime={time}>{text}</time>
);

export const LocalDay = ({ time }: { time: string }) => (
  <LocalTime time={time} text={time.slice(0, 'YYYY-MM-DD'.length)} />
);

/** Names the time zone of the times above. */
export const TimeZoneNote = ({ timeZone }: { timeZone: string }) => (
  <p class="help">
    Times are in the time zone <span data-time-zone="">{timeZone}</span>.
  </p>
);

export const LocalTimesScript = () => <script src={SCRIPT_PATH} defer />;

export function localTimeRoutes(): Router {
  const script = readBrowserScript('times.js');
  const router = express.Router({ caseSensitive: true });

  router.get(SCRIPT_PATH, (_request, response) => {
    response.set('Cache-Control', 'no-cache').type('js').send(script);
  });

  return router;
}
