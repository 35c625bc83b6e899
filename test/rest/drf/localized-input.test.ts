/** Dates and decimals in the language of the client, as measured on the reference service. */
import { withDecimalPoint } from '../../../src/rest/drf/localized-input';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
let ann: Person;

/** Dates of the stored weight entries. */
const [APRIL_3, MARCH_4, MAY_25] = ['2021-04-03', '2021-03-04', '2021-05-25'];

/** A date on which there is no entry. */
const ELSEWHEN = 'none';
const REJECTED = 'rejected';

beforeAll(async () => {
  ann = await fitgraph.user('ann');

  for (const date of [APRIL_3, MARCH_4, MAY_25]) {
    expect((await ann.post('/weightentry/', { date, weight: '80' })).status).toBe(201);
  }
});

const MONTH_FIRST = {
  [MARCH_4]: ['03/04/2021', '3/4/2021', '03/04/21'],
  [MAY_25]: ['05/25/2021'],
  [REJECTED]: ['25/05/2021', '25.05.2021', '03.04.21', '25-05-2021', '3 April 2021'],
};
const MONTH_FIRST_OR_NAMED = {
  [MARCH_4]: ['03/04/2021'],
  [APRIL_3]: ['3 April 2021', 'April 3 2021', 'Apr 3, 2021', '3 apr, 2021'],
  [REJECTED]: ['25/05/2021', '3 Avril 2021'],
};
const DOTTED = {
  [APRIL_3]: ['03.04.21', '3.4.21', '03.04.2021'],
  [MAY_25]: ['25.05.21'],
  [ELSEWHEN]: ['21.05.25'],
  [REJECTED]: ['03/04/2021', '3/4/2021', '03/04/21', '05/25/2021', '25.05.2021.'],
};
const DAY_FIRST = {
  [APRIL_3]: ['03/04/2021', '3/4/2021', '03/04/21'],
  [MAY_25]: ['25/05/2021', '25/05/21'],
  [ELSEWHEN]: ['21/04/03'],
  [REJECTED]: ['05/25/2021'],
};
const DAY_FIRST_OR_DASHED = {
  [APRIL_3]: [...DAY_FIRST[APRIL_3]!, '03-04-2021', '03-04-21', '2021/04/03'],
  [MAY_25]: ['25/05/2021', '25-05-2021', '25/05/21'],
  [ELSEWHEN]: ['21-04-03', '21/04/03'],
  [REJECTED]: ['05/25/2021'],
};
const DAY_FIRST_OR_DOTTED = {
  [APRIL_3]: [...DAY_FIRST[APRIL_3]!, '03.04.21', '3.4.21'],
  [MAY_25]: ['25/05/2021', '25.05.21', '25/05/21'],
  [ELSEWHEN]: ['21.05.25', '21/04/03'],
  [REJECTED]: ['05/25/2021'],
};

const DATES_BY_LANGUAGE: [language: string, dates: Record<string, string[]>][] = [
  ...['en', 'sv', 'nb', 'nn', 'xx', ''].map((code): [string, typeof MONTH_FIRST] => [
    code,
    MONTH_FIRST,
  ]),
  ['bg', MONTH_FIRST_OR_NAMED],
  ['no', MONTH_FIRST_OR_NAMED],
  ['de', DOTTED],
  ['de-AT', DOTTED],
  ['ru', DOTTED],
  ['cs', { ...DOTTED, [APRIL_3]: ['03.04.21', '3.4.21', '3. 4. 2021', '03. 04. 21'] }],
  [
    'pl',
    {
      ...DOTTED,
      [APRIL_3]: ['03.04.21', '3.4.21', '21-04-03'],
      [ELSEWHEN]: ['03-04-21', '21.05.25'],
    },
  ],
  [
    'uk',
    {
      [APRIL_3]: ['3 April 2021', '03.04.2021'],
      [REJECTED]: ['03/04/2021', '3/4/2021', '03/04/21', '05/25/2021', '03.04.21'],
    },
  ],
  ['es', DAY_FIRST],
  ['es-mx', DAY_FIRST],
  ['pt', DAY_FIRST],
  ['pt-br', DAY_FIRST],
  ['el', DAY_FIRST],
  [
    'tr',
    {
      ...DAY_FIRST,
      [APRIL_3]: [...DAY_FIRST[APRIL_3]!, '21-04-03'],
      [ELSEWHEN]: ['03-04-21', '21/04/03'],
    },
  ],
  ['nl', DAY_FIRST_OR_DASHED],
  ['it', DAY_FIRST_OR_DASHED],
  ['fr', DAY_FIRST_OR_DOTTED],
  ['fr-CH', DAY_FIRST_OR_DOTTED],
  ['xx,de', DOTTED],
  ['de;q=0.5,fr', DAY_FIRST_OR_DOTTED],
];

async function filterByDate(language: string, text: string): Promise<string> {
  const { status, body } = await ann
    .withHeaders({ 'Accept-Language': language })
    .get(`/weightentry/?date=${encodeURIComponent(text)}`);

  if (status === 400) {
    expect(body).toEqual({ date: ['Enter a valid date.'] });
    return REJECTED;
  }

  return body.results[0]?.date ?? ELSEWHEN;
}

test.each(DATES_BY_LANGUAGE)('dates are read as in the language %j', async (language, dates) => {
  const expected = Object.entries({ ...dates, [MAY_25]: [...(dates[MAY_25] ?? []), MAY_25!] });

  for (const [date, texts] of expected) {
    for (const text of texts) {
      expect([text, await filterByDate(language, text)]).toEqual([text, date]);
    }
  }
});

test.each([
  ['en', '31/12/1969', REJECTED],
  ['en', '02/29/2021', REJECTED],
  ['de', '29.02.2021', REJECTED],
  ['de', '1.1.0000', REJECTED],
  ['de', ' 25.5.2021\t', MAY_25],
  ['de', '25.5.2021 x', REJECTED],
  ['de', '2٥.05.2021', REJECTED],
])('a date is read to its end (%s): %s', async (language, text, date) => {
  expect(await filterByDate(language, text)).toBe(date);
});

test.each([
  ['69', '1969-01-02'],
  ['68', '2068-01-02'],
])('a year of two digits is in the century of Python: %s', async (year, date) => {
  expect((await ann.post('/weightentry/', { date, weight: '80' })).status).toBe(201);
  expect(await filterByDate('de', `2.1.${year}`)).toBe(date);
});

test.each([
  [['pl'], '1,5', '1.5'],
  [['xx', 'de'], '1,5', '1.5'],
  [['de'], '1.5', '1.5'],
  [['de'], '1,000,5', '1.000,5'],
  [['en', 'de'], '1,5', '1,5'],
  [['no'], '1,5', '1,5'],
  [[], '1,5', '1,5'],
])('a decimal comma is read in its languages (%j): %s', (languages, text, expected) => {
  expect(withDecimalPoint(text, languages)).toBe(expected);
});
