import { NOT_A_DATE_MESSAGE } from '../../../src/shared/messages';
import { highlightJson } from '../../../src/web/browse/highlight-json';
import { renderBrowsePage } from '../../../src/web/browse';
import { parsePostedForm } from '../../../src/rest/drf/method-override';
import type { ResourceEndpoint } from '../../../src/rest/endpoints';
import type { HtmlView } from '../../../src/web/browse/view/view-model';

const EVIL = '<script>alert(1)</script>"><img src=x onerror=alert(1)></textarea></style>';

const FRUIT_VIEW = { rest: 'fruit' };

const view = (changes: Partial<HtmlView> = {}): HtmlView => ({
  kind: 'list',
  name: 'Fruits',
  description: 'Fruit.',
  method: 'GET',
  url: '/api/v2/fruit/',
  path: '/api/v2/fruit/',
  query: new URLSearchParams(),
  baseUrl: 'http://localhost',
  timeZone: 'Europe/Berlin',
  status: 200,
  body: { count: 0, next: null, previous: null, results: [] },
  headers: {},
  allowedMethods: ['GET', 'POST'],
  idLinkTree: { childrenByKey: {} },
  errors: {},
  resource: {
    name: 'fruit',
    singularLabel: 'Fruit',
    pluralLabel: 'Fruits',
    description: 'Fruit.',
    isOwned: true,
  },
  endpoint: {
    view: FRUIT_VIEW,
    resource: { views: [FRUIT_VIEW] },
    fields: [{ rest: 'day', name: 'day', label: 'Day', kind: 'date', sortable: true }],
    actions: new Map(),
  } as unknown as ResourceEndpoint,
  resources: [],
  filters: [],
  pageWindow: { limit: 20, offset: 0 },
  canDelete: false,
  methodsRequiringSignIn: [],
  isSignedIn: true,
  visitor: { username: 'ann', csrfToken: 'token', basePath: '' },
  ...changes,
});

const textOf = async (changes?: Partial<HtmlView>) =>
  (await renderBrowsePage(view(changes))).htmlText;

const ORIGIN = 'https://fit.example.com';

describe('highlighted JSON', () => {
  const links = {
    childrenByKey: {
      id: { endpointName: 'fruit', childrenByKey: {} },
      kinds: { endpointName: 'kind', childrenByKey: {} },
    },
  };

  it('links ids to their rows', () => {
    const html = highlightJson({ id: 3, kinds: [1, 2], other: 4 }, links, ORIGIN);

    expect(html.match(/href="[^"]*"/g)).toEqual([
      'href="/api/v2/fruit/3/"',
      'href="/api/v2/kind/1/"',
      'href="/api/v2/kind/2/"',
    ]);
  });

  it('links ids of nested objects', () =>
    expect(highlightJson({ rows: [{ id: 3 }] }, links, ORIGIN)).toContain(
      'href="/api/v2/fruit/3/"',
    ));

  it.each([
    ['http://a.example/x?y=1&z=2', 'href="http://a.example/x?y=1&amp;z=2"'],
    ['/media/a.png', 'href="https://fit.example.com/media/a.png"'],
  ])('links %s', (url, href) => expect(highlightJson(url, links, ORIGIN)).toContain(href));

  it.each([
    'javascript:alert(1)',
    '//evil.example/',
    'http://x" onclick="alert(1)',
    'data:text/html,x',
  ])('does not link %s', (text) =>
    expect(highlightJson({ [text]: text }, links, ORIGIN)).not.toContain('<a'),
  );

  it('escapes keys and values', () =>
    expect(highlightJson({ [EVIL]: [EVIL] }, links, ORIGIN)).not.toMatch(
      /<(script|img|\/textarea|\/style)/,
    ));
});

describe('a page', () => {
  it('escapes all values', async () => {
    const control = { key: 'name', label: 'Name', kind: 'string' as const, required: true };
    const text = await textOf({
      status: 400,
      url: `/api/v2/fruit/?${EVIL}`,
      query: new URLSearchParams({ name: EVIL, ordering: EVIL }),
      body: { name: [EVIL] },
      errors: { name: [EVIL] },
      filters: [control],
      graphqlOperation: { document: EVIL, variables: { EVIL } },
      form: {
        action: '/api/v2/fruit/',
        method: 'POST',
        controls: [control],
        values: { name: [EVIL] },
        isRejected: true,
      },
    });

    expect(text).not.toMatch(/<(script|img)/);
    expect(text.match(/<\/textarea>/g)).toHaveLength(1);
    expect(text.match(/<\/style>/g)).toHaveLength(1);
  });

  it('shows errors at their fields and keeps the submitted values', async () => {
    const controls = [
      {
        key: 'weight',
        label: 'Weight',
        kind: 'decimal' as const,
        required: true,
        min: 30,
        decimalPlaces: 2,
      },
    ];
    const form = {
      action: '/api/v2/fruit/',
      method: 'POST' as const,
      controls,
      values: { weight: ['much'] },
      isRejected: true,
    };
    const text = await textOf({
      method: 'POST',
      status: 400,
      body: {},
      errors: { weight: ['A valid number is required.'] },
      form,
    });

    expect(text).toMatch(
      /<input type="text" id="wpost-weight"[^>]*value="much"[^>]*aria-describedby="wpost-weight-error[^>]*aria-invalid="true"/,
    );
    expect(text).toContain('<a href="#wpost-weight">Weight: Enter a number.</a>');
    expect(text).toMatch(/<input type="hidden" name="csrfToken" value="token"/);
    expect(text).toMatch(/<input [^>]*id="wpost-weight"[^>]* autofocus/);
  });

  it.each([
    ['decimal', 'A little more than 600', '601', 'Between 30 and 600 kg.'],
    ['decimal', 'Nothing at all', '', 'Enter a weight.'],
    ['relation', 'Nothing at all', '', 'Choose a weight.'],
    ['date', NOT_A_DATE_MESSAGE, '2025-02-30', 'Enter a date, such as 2026-01-31.'],
    ['date', 'Enter a valid date.', '2025-02-30', 'Enter a date, such as 2026-01-31.'],
    ['datetime', 'No such hour', '2026-10-25T02:30', 'No such hour'],
    ['string', 'Whatever else there is', 'x', 'Whatever else there is'],
  ] as const)(
    'shows a readable error for a %s when the message is "%s"',
    async (kind, message, typed, expectedMessage) => {
      const controls = [
        { key: 'weight', label: 'Weight', kind, required: true, min: 30, max: 600, unit: 'kg' },
      ];
      const form = {
        action: '/',
        method: 'PATCH' as const,
        controls,
        values: { weight: [typed] },
        isRejected: true,
      };
      const text = await textOf({
        method: 'PATCH',
        status: 400,
        errors: { weight: [message] },
        form,
      });

      expect(text).toContain(`<p class="error" id="wpatch-weight-error">${expectedMessage}</p>`);
      expect(text.match(/>Save</g)).toHaveLength(1);
    },
  );

  it('draws charts with their units and a table of their values', async () => {
    const points = (...numbers: number[]) =>
      numbers.map((number, index): [string, number] => [`2025-01-0${index + 1}`, number]);
    const series = [
      {
        label: 'Weight',
        unit: 'kg',
        lines: [
          { name: 'Squat', points: points(81, 80.5) },
          { name: 'Plank', points: points(1) },
        ],
        omittedLineCount: 2,
      },
      { label: 'Weight', unit: 'Plates', lines: [{ points: points(3, 4) }], omittedLineCount: 0 },
    ];
    const text = await textOf({
      timeSeries: {
        charts: series,
        periodDays: 90,
        rowCount: 5,
        omittedRowCount: 0,
        earlierRowCount: 0,
        futureRowCount: 0,
      },
    });

    expect(text).toContain(
      'Weight in kg. 3 values of Squat, Plank from 2025-01-01 to 2025-01-02, between 1 and 81 kg.',
    );
    expect(text).toContain('2 more hidden: filter the list to see them');
    expect(text).toContain('Weight in Plates. 2 values from');
    expect(text.match(/<svg /g)).toHaveLength(2);
    expect(text).toContain('var(--accent)');
    expect(text).toMatch(
      /<th scope="row">2025-01-02<\/th><td class="number">80.5<\/td><td class="number"><\/td>/,
    );
  });

  it('draws a line per number of repetitions for a progress action, if it has data', async () => {
    const lines = [
      [
        { date: '2025-01-02', weight: '80.50', reps: 5 },
        { date: '2025-01-04', weight: '82.50', reps: 5 },
      ],
      [{ date: '2025-01-03', weight: '70.00', reps: 8 }],
    ];
    const action = { kind: 'action', action: 'progress', pageWindow: undefined } as const;
    const text = await textOf({ ...action, body: { lines, logs: {} } });

    expect(text).toContain(
      'Weight. 3 values of 5 reps, 8 reps from 2025-01-02 to 2025-01-04, between 70 and 82.5.',
    );
    expect(text).toMatch(/<ul class="legend"[^>]*><li[^>]*>5 reps<\/li><li[^>]*>8 reps<\/li>/);
    expect(text).toContain('var(--accent)');
    expect(text).toContain('var(--link)');

    for (const body of [
      { lines: [], logs: {} },
      { lines: [lines[1]] },
      { lines: [[], []] },
      { lines: [['a']] },
      ['a'],
      'a',
      null,
    ]) {
      expect(await textOf({ ...action, body })).not.toContain('class="chart"');
    }
  });

  it('shows the image of a row as a thumbnail that links to the image, but none of other hosts', async () => {
    const textWithImage = (pictureUrl: string) => {
      const fields = [{ label: 'Image', key: 'image', cell: { pictureUrl } }];

      return textOf({
        kind: 'detail',
        detailRow: { name: 'Squat', massUnit: 'g', fields, childLists: [] },
      });
    };

    const src = '/media/exercise-images/1/a%20b.png';

    expect(await textWithImage(`http://localhost${src}`)).toContain(
      `<a href="${src}"><img class="figure" src="${src}.200x200_q85.jpg" alt="Image of Squat"`,
    );
    expect(await textWithImage('/static/Soleus.svg')).toContain(
      '<img class="figure" src="/static/Soleus.svg"',
    );

    for (const foreign of [
      'https://evil.example/x.svg',
      '//evil.example/x.png',
      'javascript:x.png',
    ]) {
      expect(await textWithImage(foreign)).not.toContain('<img');
    }
  });
});

describe('a form', () => {
  const posted = (fields: Record<string, string>) =>
    parsePostedForm({
      isForm: true,
      data: new Map(Object.entries(fields).map(([key, value]) => [key, [value]])),
    });

  it.each([
    ['PUT', 'PUT'],
    ['patch', 'PATCH'],
    ['DELETE', 'DELETE'],
    ['GET', 'POST'],
    ['TRACE', 'POST'],
  ])('with _method=%s is handled as %s', (methodField, expectedMethod) =>
    expect(posted({ _method: methodField }).method).toBe(expectedMethod),
  );

  it('passes on its own fields only', () => {
    const { body, values } = posted({ _method: 'PUT', csrfToken: 'x', name: 'pear' });

    expect(body).toEqual({ isForm: true, data: new Map([['name', ['pear']]]) });
    expect(values).toEqual({ name: ['pear'] });
  });
});
