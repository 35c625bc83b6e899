/** The pages as people meet them: in real Chromium, with a script and without, light and dark, on a desk and on a phone. */
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
