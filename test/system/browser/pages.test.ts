/** The pages in Chromium: with and without JavaScript, light and dark, on desktop and phone. */
import { describeCrossOrigin } from './cross-origin-app';
import { describeJourneys } from './journeys';
import { describeLooks } from './layout';
import { BrowserSetup } from './person';
import { describePlayground } from './playground';

let browserSetup: BrowserSetup;

beforeAll(async () => {
  browserSetup = await BrowserSetup.start();
});
afterAll(() => browserSetup?.stop());
afterEach(() => expect(browserSetup.pageErrors()).toEqual([]));

describeJourneys(() => browserSetup);
describeLooks(() => browserSetup);
describePlayground(() => browserSetup);
describeCrossOrigin(() => browserSetup);
