/** The pages in Chromium: with and without JavaScript, light and dark, on desktop and phone. */
import { describeCrossOrigin } from './crossorigin';
import { describeJourneys } from './journeys';
import { describeLooks } from './looks';
import { Neighbourhood } from './person';
import { describePlayground } from './playground';

let neighbourhood: Neighbourhood;

beforeAll(async () => {
  neighbourhood = await Neighbourhood.start();
});
afterAll(() => neighbourhood?.stop());
afterEach(() => expect(neighbourhood.complaints()).toEqual([]));

describeJourneys(() => neighbourhood);
describeLooks(() => neighbourhood);
describePlayground(() => neighbourhood);
describeCrossOrigin(() => neighbourhood);
