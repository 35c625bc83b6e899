import { assembleOperations } from '../../src/graphql/uploads';
import type { MultipartParts, UploadedFile } from '../../src/platform/multipart';
import { uploaded } from './uploaded';

const file = uploaded('a.png', Buffer.from('a'));
const OPERATIONS = '{"query":"mutation","variables":{"input":{"image":null,"more":[null,"x"]}}}';
const parts = (operations: string, map: string): MultipartParts =>
  new Map<string, (string | UploadedFile)[]>([
    ['operations', [operations]],
    ['map', [map]],
    ['0', [file]],
    ['text', ['a']],
  ]);

it('assigns files to the paths in the map', () =>
  expect(
    assembleOperations(
      parts(OPERATIONS, '{"0":["variables.input.image","variables.input.more.0"]}'),
    ).variables,
  ).toEqual({
    input: { image: file, more: [file, 'x'] },
  }));

it.each([
  ['operations that are not JSON', 'x', '{}', 'The part "operations" must be a JSON object.'],
  ['a batch', '[]', '{}', 'The part "operations" must be a JSON object.'],
  ['an empty map', OPERATIONS, '', 'The part "map" must be a JSON object.'],
  [
    'a path outside a list',
    OPERATIONS,
    '{"0":"variables.input.image"}',
    'Every value of "map" must be a list of paths.',
  ],
  [
    'an unknown part',
    OPERATIONS,
    '{"1":["variables.input.image"]}',
    'There is no file in part "1".',
  ],
  [
    'a text part',
    OPERATIONS,
    '{"text":["variables.input.image"]}',
    'There is no file in part "text".',
  ],
  [
    'a path whose value is not null',
    OPERATIONS,
    '{"0":["variables.input.more.1"]}',
    'The value at "variables.input.more.1" in "operations" must be null.',
  ],
  [
    'a path to the query',
    OPERATIONS,
    '{"0":["query"]}',
    'The value at "query" in "operations" must be null.',
  ],
  [
    'a path through __proto__',
    OPERATIONS,
    '{"0":["variables.__proto__.x"]}',
    'The value at "variables.__proto__.x" in "operations" must be null.',
  ],
  [
    'two files for one path',
    OPERATIONS,
    '{"0":["variables.input.image","variables.input.image"]}',
    'The value at "variables.input.image" in "operations" must be null.',
  ],
])('rejects %s', (_, operations, map, message) =>
  expect(() => assembleOperations(parts(operations, map))).toThrow(message),
);
