import { NOT_A_DATE_MESSAGE } from '../../src/contract/messages';
import { highlightJson } from '../../src/pages/browse/highlightjson';
import { renderBrowsePage } from '../../src/pages/browse';
import { parsePostedForm } from '../../src/rest/dialect/methodoverride';
import type { ResourceEndpoint } from '../../src/rest/endpoints';
import type { HtmlView } from '../../src/pages/browse/view/viewmodel';

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
  forms: [],
  canDelete: false,
  methodsRequiringSignIn: [],
  isSignedIn: true,
  visitor: { username: 'ann', csrfToken: 'token' },
  ...changes,
});

const textOf = async (changes?: Partial<HtmlView>) =>
  (await renderBrowsePage(view(changes))).htmlText;

describe('highlighted JSON', () => {
  const links = {
    childrenByKey: {
      id: { endpointName: 'fruit', childrenByKey: {} },
      kinds: { endpointName: 'kind', childrenByKey: {} },
    },
  };

  it('links ids to their rows', () => {
    const html = highlightJson({ id: 3, kinds: [1, 2], other: 4 }, links);
    expect(html.match(/href="[^"]*"/g)).toEqual([
      'href="/api/v2/fruit/3/"',
      'href="/api/v2/kind/1/"',
      'href="/api/v2/kind/2/"',
    ]);
  });

  it('links ids of nested objects', () =>
    expect(highlightJson({ rows: [{ id: 3 }] }, links)).toContain('href="/api/v2/fruit/3/"'));

  it.each([
    ['http://a.example/x?y=1&z=2', 'href="http://a.example/x?y=1&amp;z=2"'],
    ['/media/a.png', 'href="/media/a.png"'],
  ])('links %s', (url, href) => expect(highlightJson(url, links)).toContain(href));

  it.each([
    'javascript:alert(1)',
    '//evil.example/',
    'http://x" onclick="alert(1)',
    'data:text/html,x',
  ])('does not link %s', (text) =>
    expect(highlightJson({ [text]: text }, links)).not.toContain('<a'),
  );

  it('escapes keys and values', () =>
    expect(highlightJson({ [EVIL]: [EVIL] }, links)).not.toMatch(
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
      forms: [
        {
          action: '/api/v2/fruit/',
          methods: ['POST'],
          controls: [control],
          values: { name: [EVIL] },
          jsonText: EVIL,
          rejectedPart: 'fields',
        },
      ],
    });
    expect(text).not.toMatch(/<(script|img)/);
    expect(text.match(/<\/textarea>/g)).toHaveLength(2);
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
      methods: ['POST'],
      controls,
      values: { weight: ['much'] },
      jsonText: '{}',
      rejectedPart: 'fields' as const,
    };
    const text = await textOf({
      method: 'POST',
      status: 400,
      body: {},
      errors: { weight: ['A valid number is required.'] },
      forms: [form],
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
        methods: ['PUT', 'PATCH'],
        controls,
        values: { weight: [typed] },
        jsonText: '{}',
        rejectedPart: 'fields' as const,
      };
      const text = await textOf({
        method: 'PUT',
        status: 400,
        errors: { weight: [message] },
        forms: [form],
      });
      expect(text).toContain(`<p class="error" id="wput-weight-error">${expectedMessage}</p>`);
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
    const text = await textOf({ timeSeries: { charts: series, periodDays: 90 } });
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
    ])
      expect(await textOf({ ...action, body })).not.toContain('class="chart"');
  });

  it('shows images as thumbnails that link to the images', async () => {
    const src = '/media/exercise-images/1/a%20b.png';
    const results = [{ id: 1, image: `http://localhost${src}` }];
    const text = await textOf({ body: { count: 1, next: null, previous: null, results } });
    expect(text).toContain(`<a href="${src}"><img src="${src}.200x200_q85.jpg" alt="Image 1"`);
  });

  it('shows the drawing of a row, but not those of nested rows or other hosts', async () => {
    const muscleWithDrawing = (name: string) => ({ name, image_url_main: `/static/${name}.svg` });
    const text = await textOf({
      kind: 'detail',
      body: { ...muscleWithDrawing('Soleus'), others: [muscleWithDrawing('Brachialis')] },
    });
    expect(text.match(/<img [^>]*>/g)).toEqual([
      expect.stringContaining('src="/static/Soleus.svg" alt="Drawing of Soleus"'),
    ]);
    const foreignMuscle = { name: 'X', image_url_main: 'https://evil.example/x.svg' };
    expect(await textOf({ kind: 'detail', body: foreignMuscle })).not.toContain('<img');
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

  it('may contain JSON, and reports invalid JSON and other types', () => {
    expect(posted({ _content: '{"a": 1}' }).body).toEqual({ isForm: false, data: { a: 1 } });
    expect(posted({ _content: '{"a":' })).toMatchObject({
      jsonText: '{"a":',
      jsonError: { status: 400 },
    });
    expect(posted({ _content: '<a/>', _content_type: 'application/xml' })).toMatchObject({
      jsonError: { status: 415 },
    });
  });
});
