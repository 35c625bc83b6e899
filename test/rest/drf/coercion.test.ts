/**
 * Coercion of the values of a request body. The accepted values and the error messages are those of
 * the reference service.
 */
import { limitViolationMessages } from '../../../src/engine/declare/field-validation';
import type { FieldMetadata, FieldKind } from '../../../src/shared/metadata';
import { parseJson, JsonNumber } from '../../../src/rest/drf/json-parser';
import { coerceValue, coerceReference, pythonTypeName } from '../../../src/rest/drf/coercion';
import { growth, LINEAR } from '../../setup/waits';

function field(kind: FieldKind, more: Partial<FieldMetadata> = {}): FieldMetadata {
  const made = {
    name: 'x',
    restKey: 'x',
    kind,
    allowNull: false,
    allowBlank: false,
    ...more,
    check: (value: unknown) => limitViolationMessages(value, made),
  } as FieldMetadata;

  return made;
}

/** Ids of existing rows. */
const KNOWN = [1, 2, 7];

function coerce(field: FieldMetadata, value: unknown): unknown {
  const coerced = field.relation
    ? coerceReference(field, value, KNOWN)
    : coerceValue(field, value, 'Europe/Berlin');

  return 'messages' in coerced ? coerced.messages : coerced.value;
}

/** Parses a JSON text as a request body is parsed. */
const parseValue = (text: string) => parseJson(() => text);

const shownValue = (value: unknown) => {
  if (value instanceof JsonNumber) return value.text;

  return typeof value === 'string' && value.length > 60
    ? `${value.slice(0, 20)}…`
    : JSON.stringify(value);
};

const outcomeOf = (expected: unknown) =>
  Array.isArray(expected) && typeof expected[0] === 'string'
    ? 'is rejected'
    : `becomes ${JSON.stringify(expected)}`;

/**
 * Declares tests for a field. Each pair contains a value and the expected result, which may be a
 * list of error messages.
 */
function table(what: string, field: FieldMetadata, pairs: [unknown, unknown][]): void {
  describe(what, () => {
    test.each(
      pairs.map(([value, expected]) => [shownValue(value), outcomeOf(expected), value, expected]),
    )('%s %s', (_shown, _outcome, value, expected) => {
      expect(coerce(field, value)).toEqual(expected);
    });
  });
}

const INTEGER = ['A valid integer is required.'];

table('an integer', field('integer', { min: 0, max: 600 }), [
  [7, 7],
  ['7', 7],
  [' 5 ', 5],
  ['5.0', 5],
  [2.0, 2],
  [1e2, 100],
  ['+7', 7],
  ['٧', INTEGER],
  ['1_0', INTEGER],
  ['5.00', 5],
  ['5.', 5],
  ['\u30005\u0085', 5],
  ['\u001f5', INTEGER],
  ['5.0\u001f', 5],
  ['5.0.0', INTEGER],
  ['\ufeff5', INTEGER],
  [parseValue('2.0'), 2],
  [parseValue('1e2'), 100],
  [parseValue('-0'), 0],
  [parseValue('1e20'), INTEGER],
  [parseValue('1e16'), INTEGER],
  [parseValue('1e15'), ['Ensure this value is less than or equal to 600.']],
  [parseValue('100000000000000000000'), ['Ensure this value is less than or equal to 600.']],
  [0, 0],
  [600, 600],
  [601, ['Ensure this value is less than or equal to 600.']],
  [-1, ['Ensure this value is greater than or equal to 0.']],
  [2.5, INTEGER],
  ['2.5', INTEGER],
  [true, INTEGER],
  [false, INTEGER],
  ['', INTEGER],
  [' ', INTEGER],
  ['x', INTEGER],
  [[], INTEGER],
  [{}, INTEGER],
  ['1'.repeat(1001), ['String value too large.']],
]);

table('an integer without limits of its own', field('integer'), [
  [2147483647, 2147483647],
  [-2147483648, -2147483648],
  [2147483648, ['Ensure this value is less than or equal to 2147483647.']],
  [-2147483649, ['Ensure this value is greater than or equal to -2147483648.']],
  ['99999999999999999999', ['Ensure this value is less than or equal to 2147483647.']],
]);

const NUMBER = ['A valid number is required.'];
const PLACES = ['Ensure that there are no more than 2 decimal places.'];
const DIGITS = ['Ensure that there are no more than 5 digits in total.'];
const WHOLE = ['Ensure that there are no more than 3 digits before the decimal point.'];

table(
  'a decimal with 5 digits, 2 of them decimal places',
  field('decimal', { maxDigits: 5, decimalPlaces: 2, min: 30, max: 600 }),
  [
    ['80.50', '80.50'],
    ['80.5', '80.5'],
    [80.5, '80.5'],
    [80, '80'],
    [' 80.5 ', '80.5'],
    ['1e2', '1e2'],
    ['+80.5', '+80.5'],
    ['080.5', '080.5'],
    ['٨٠.٥', '80.5'],
    ['𝟙𝟚𝟘.𝟧𝟶', '120.50'],
    ['8_0', NUMBER],
    ['\u001c80.5\u0085', '80.5'],
    ['\ufeff80.5', NUMBER],
    ['80.', '80.'],
    [parseValue('80.0'), '80.0'],
    [parseValue('80.500'), '80.5'],
    [parseValue('1e2'), '100.0'],
    [parseValue('1e400'), NUMBER],
    ['1e9999999999999999999', NUMBER],
    ['80.555', PLACES],
    ['80.500', PLACES],
    ['1.5000', PLACES],
    ['800000', DIGITS],
    ['123.456', DIGITS],
    [80.10000000000001, DIGITS],
    ['1e5', DIGITS],
    ['1234.5', WHOLE],
    ['600.01', ['Ensure this value is less than or equal to 600.']],
    ['29.99', ['Ensure this value is greater than or equal to 30.']],
    ['-80', ['Ensure this value is greater than or equal to 30.']],
    ['NaN', NUMBER],
    ['Infinity', NUMBER],
    ['1,5', NUMBER],
    ['', NUMBER],
    ['.', NUMBER],
    [true, NUMBER],
    [[80], NUMBER],
    [{}, NUMBER],
    ['8'.repeat(1001), ['String value too large.']],
  ],
);

const BOOLEAN = ['Must be a valid boolean.'];

table('a boolean', field('boolean'), [
  ...[
    true,
    1,
    parseValue('1.0'),
    parseValue('1e0'),
    't',
    'T',
    'y',
    'Y',
    'yes',
    'YES',
    'Yes',
    'true',
    'True',
    'TRUE',
    'on',
    'On',
    'ON',
    '1',
  ].map((value): [unknown, unknown] => [value, true]),
  ...[
    false,
    0,
    parseValue('0.0'),
    parseValue('-0'),
    'f',
    'F',
    'n',
    'N',
    'no',
    'NO',
    'No',
    'false',
    'False',
    'FALSE',
    'off',
    'Off',
    'OFF',
    '0',
  ].map((value): [unknown, unknown] => [value, false]),
  ...[
    2,
    -1,
    parseValue('1.5'),
    parseValue('1e20'),
    'perhaps',
    'tRUE',
    'yEs',
    'null',
    'None',
    ' true',
    '1.0',
    '',
    ' ',
    [],
    {},
    [true],
  ].map((value): [unknown, unknown] => [value, BOOLEAN]),
]);

table('a text of at most 10 characters', field('string', { maxLength: 10 }), [
  ['text', 'text'],
  ['  text  ', 'text'],
  ['<b>&', '<b>&'],
  [12, '12'],
  [1.5, '1.5'],
  // Numbers are formatted as in JavaScript.
  [parseValue('1.0'), '1'],
  [parseValue('1e3'), '1000'],
  ['\u001c\u0085text\u2003', 'text'],
  ['\ufefftext', '\ufefftext'],
  ['a\ud800b', ['Surrogate characters are not allowed: U+D800.']],
  ['\udfff\ud800', ['Surrogate characters are not allowed: U+DFFF.']],
  ['\ud83d\ude00', '😀'],
  [
    'a\0\udc00',
    ['Null characters are not allowed.', 'Surrogate characters are not allowed: U+DC00.'],
  ],
  ['😀'.repeat(10), '😀'.repeat(10)],
  ['😀'.repeat(11), ['Ensure this field has no more than 10 characters.']],
  ['   ', ['This field may not be blank.']],
  ['a\0b', ['Null characters are not allowed.']],
  [true, ['Not a valid string.']],
  [[], ['Not a valid string.']],
  [{}, ['Not a valid string.']],
]);

table(
  'a text that is blank or has at least 3 characters',
  field('string', { minLength: 3, allowBlank: true }),
  [
    ['', ''],
    [' ', ''],
    ['ab', ['Ensure this field has at least 3 characters.']],
    ['abc', 'abc'],
  ],
);

const CHOICE = (value: string) => [`"${value}" is not a valid choice.`];

table(
  'a choice',
  field('choice', { choices: ['1', '2'].map((value) => ({ value, label: value })) }),
  [
    ['1', '1'],
    [2, '2'],
    ['3', CHOICE('3')],
    [' 1', CHOICE(' 1')],
    ['', CHOICE('')],
    [true, CHOICE('True')],
    [['1'], CHOICE("['1']")],
  ],
);

const DAY = ['Date has wrong format. Use one of these formats instead: YYYY-MM-DD.'];

table('a date', field('date'), [
  ['2021-03-03', '2021-03-03'],
  ['2021-3-3', '2021-03-03'],
  ['2020-02-29', '2020-02-29'],
  ['0001-01-01', '0001-01-01'],
  ['9999-12-31', '9999-12-31'],
  ['2021-02-29', DAY],
  ['2021-13-01', DAY],
  ['2021-00-10', DAY],
  ['0000-01-01', DAY],
  ['21-03-03', DAY],
  ['03/03/2021', DAY],
  ['2021-03-03T10:00:00', DAY],
  ['', DAY],
  [20210303, DAY],
  [true, DAY],
  [[], DAY],
]);

const CLOCK = ['Time has wrong format. Use one of these formats instead: hh:mm[:ss[.uuuuuu]].'];

table('a time of day', field('time'), [
  ['18:00', '18:00:00'],
  ['7:5', '07:05:00'],
  ['18:00:30', '18:00:30'],
  ['18:00:30.5', '18:00:30.5'],
  ['18:00:30.123456', '18:00:30.123456'],
  ['18:00:30.123456789', '18:00:30.123456'],
  ['18:00Z', '18:00:00'],
  ['18:00:30.5+02:00', '18:00:30.5'],
  ['18:00 ', '18:00:00'],
  ['20:2٥', CLOCK],
  ['20:25:1٥', CLOCK],
  ['18:00:30.1234567890123', CLOCK],
  ['18:00 tonight', CLOCK],
  ['18:000', CLOCK],
  ['23:59:59', '23:59:59'],
  ['24:00', CLOCK],
  ['18:60', CLOCK],
  ['18:00:60', CLOCK],
  ['18', CLOCK],
  ['6 pm', CLOCK],
  ['', CLOCK],
  [18, CLOCK],
  [true, CLOCK],
]);

const MOMENT = [
  'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
];
const ZONE = ['Invalid datetime for the timezone "Europe/Berlin".'];
const RANGE = ['Datetime value out of range.'];

table('a date with a time', field('datetime'), [
  ['2021-03-10T08:00:00Z', '2021-03-10T08:00:00Z'],
  ['2021-03-10T08:00:00+02:00', '2021-03-10T08:00:00+02:00'],
  ['2021-03-10T08:00:00-0330', '2021-03-10T08:00:00-03:30'],
  ['2021-03-10T08:00:00+02', '2021-03-10T08:00:00+02:00'],
  ['2021-03-10T08:00:00-23:59', '2021-03-10T08:00:00-23:59'],
  ['2021-03-10 08:00', '2021-03-10T08:00:00+01:00'],
  ['2021-3-1T8:5', '2021-03-01T08:05:00+01:00'],
  ['2021-07-10T08:00:00', '2021-07-10T08:00:00+02:00'],
  ['2021-07-10T08:00:00.25', '2021-07-10T08:00:00.25+02:00'],
  // The clocks go forward from 02:00 to 03:00.
  ['2021-03-28T01:59:59', '2021-03-28T01:59:59+01:00'],
  ['2021-03-28T02:00:00', ZONE],
  ['2021-03-28T02:30:00', ZONE],
  ['2021-03-28T02:59:59', ZONE],
  ['2021-03-28T03:00:00', '2021-03-28T03:00:00+02:00'],
  ['2021-03-28T02:30:00Z', '2021-03-28T02:30:00Z'],
  // The clocks go back from 03:00 to 02:00.
  ['2021-10-31T01:59:59', '2021-10-31T01:59:59+02:00'],
  ['2021-10-31T02:00:00', ZONE],
  ['2021-10-31T02:59:59', ZONE],
  ['2021-10-31T03:00:00', '2021-10-31T03:00:00+01:00'],
  ['2021-10-31T02:30:00+02:00', '2021-10-31T02:30:00+02:00'],
  ['2021-03-10', MOMENT],
  ['2021-02-29T08:00:00', MOMENT],
  ['2021-03-10T25:00:00', MOMENT],
  ['2021-03-10T08:00:00 Z', MOMENT],
  ['2021-03-10T08:00:00+24:00', MOMENT],
  ['2021-03-10T08:00:00+02:60', '2021-03-10T08:00:00+03:00'],
  ['2021-03-10T08:00:00-0199', '2021-03-10T08:00:00-02:39'],
  ['2021-03-10T08:00:00+23:60', MOMENT],
  ['0001-01-02T00:00:00Z', '0001-01-02T00:00:00Z'],
  ['9999-12-30T23:59:59.999999Z', '9999-12-30T23:59:59.999999Z'],
  ['0001-01-02T00:59:59+01:00', RANGE],
  ['9999-12-31T00:00:00Z', RANGE],
  ['9999-12-31T23:59:59', RANGE],
  ['now', MOMENT],
  ['', MOMENT],
  [1615363200, MOMENT],
  [true, MOMENT],
]);

const one = field('relation', {
  relation: { typeName: 'X', relationFieldName: 'x', isToMany: false, isOwned: false },
});
const unknown = (id: string) => [`Invalid pk "${id}" - object does not exist.`];
const pk = (received: string) => [`Incorrect type. Expected pk value, received ${received}.`];

table('a reference', one, [
  [7, 7],
  ['7', 7],
  [' 7 ', 7],
  ['\u0085+7\t', 7],
  ['\u001f7', pk('str')],
  ['007', 7],
  ['７', pk('str')],
  [parseValue('7.0'), 7],
  [1.7, 1],
  // The message repeats the value as it was sent.
  [9, unknown('9')],
  [9.5, unknown('9.5')],
  [' 9', unknown(' 9')],
  ['-1', unknown('-1')],
  [parseValue('9.0'), unknown('9.0')],
  [parseValue('9.50'), unknown('9.5')],
  [parseValue('100000000000000000000'), unknown('100000000000000000000')],
  [parseValue('12345678901234567890123'), unknown('12345678901234567890123')],
  [parseValue('1e20'), unknown('1e+20')],
  [parseValue('1e400'), pk('float')],
  ['x', pk('str')],
  ['1.5', pk('str')],
  [true, pk('bool')],
  [[1], pk('list')],
  [{}, pk('dict')],
]);

const many = field('relation', {
  relation: { typeName: 'X', relationFieldName: 'x', isToMany: true, isOwned: false },
});

table('a list of references', many, [
  [[1, '2'], [1, 2]],
  [[1, 1, '1'], [1]],
  [1, ['Expected a list of items but got type "int".']],
  ['1', ['Expected a list of items but got type "str".']],
  ['', ['Expected a list of items but got type "str".']],
  [true, ['Expected a list of items but got type "bool".']],
  [parseValue('1.0'), ['Expected a list of items but got type "float".']],
  // An object is treated as the list of its keys.
  [{}, ['This list may not be empty.']],
  [{ 1: 2 }, [1]],
  [{ x: 1 }, pk('str')],
  [[], ['This list may not be empty.']],
  // The first invalid item is reported.
  [[1, 9, 'x'], unknown('9')],
  [['x', 9], pk('str')],
  [[parseValue('9.0'), 8], unknown('9.0')],
  [['x'], pk('str')],
  [[1, true], pk('bool')],
  [[null], ['Invalid pk "None" - object does not exist.']],
]); // prettier-ignore

test.each([
  [null, 'NoneType'],
  [[], 'list'],
  [{}, 'dict'],
  ['', 'str'],
  [1, 'int'],
  [1.5, 'float'],
  [parseValue('1.0'), 'float'],
  [parseValue('1e2'), 'float'],
  [parseValue('100000000000000000000'), 'int'],
  [true, 'bool'],
])('gives %j the Python type name %s', (value, name) => {
  expect(pythonTypeName(value)).toBe(name);
});

describe('the JSON parser', () => {
  // Messages contain numbers as Python formats them.
  test.each([
    ['1.0', '1.0'],
    ['-0', '0'],
    ['-0.0', '-0.0'],
    ['1e2', '100.0'],
    ['1E-5', '1e-05'],
    ['0.0001', '0.0001'],
    ['1.5e15', '1500000000000000.0'],
    ['1e16', '1e+16'],
    ['1.50e300', '1.5e+300'],
    ['-123456789.250', '-123456789.25'],
    ['100000000000000000000', '100000000000000000000'],
  ])('keeps the number %s so that messages show %s', (number, text) => {
    expect(coerce(field('choice', { choices: [] }), parseValue(number))).toEqual([
      `"${text}" is not a valid choice.`,
    ]);
  });

  test('returns the values of JSON.parse', () => {
    const plain = (value: unknown): unknown => {
      if (value instanceof JsonNumber) return value.value;
      if (Array.isArray(value)) return value.map(plain);
      if (value === null || typeof value !== 'object') return value;

      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
    };

    for (const text of [
      ' { "a" : [ 1.0 , 2 , { } , [ ] , "1.0" ] , "b\\"" : "\\\\" , "c":true,"d":false ,"e":null } ',
      '[[],[[1e0]],{"":{"":-0.0}}]',
      '{"a":1.0,"a":2.50,"__proto__":{"b":1.0},"x":"\\u00e9\\ud83d\\ude00\\/\\n"}',
      '1.0',
      '"a 1.0"',
    ]) {
      expect(plain(parseValue(text))).toEqual(JSON.parse(text));
    }

    expect(Object.keys(parseValue('{"__proto__":1.0}') as object)).toEqual(['__proto__']);
  });

  test('takes linear time', async () => {
    const texts: [length: number, textOf: (many: number) => string][] = [
      [300_000, (many) => `["${'\\\\'.repeat(many)}",1.0]`],
      // Close to the maximum number of values in a body.
      [19_000, (many) => `{"a":[${'1.0,'.repeat(many)}1]}`],
      [300_000, (many) => `["",${'9'.repeat(many)}]`],
      [300_000, (many) => `{"a":${' '.repeat(many)}1.0}`],
    ];

    for (const [length, textOf] of texts) {
      expect(await growth((share) => parseValue(textOf(length * share)))).toBeLessThan(LINEAR);
    }
  });
});
