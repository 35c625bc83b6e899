/**
 * Contradictory resource declarations are rejected when they are loaded, with a message that says what to change. Uniqueness messages name only
 * fields that the interface shows.
 */
import { Model } from 'sequelize-typescript';
import { DateField, Id, IntegerField } from '../../../src/core/model/fields';
import { declareIndexes } from '../../setup/declaredindexes';
import type { ResourceOptions } from '../../../src/core/model/registry';
import { Owner } from '../../../src/core/model/relationfields';
import { Resource } from '../../../src/core/model/resource';
import { duplicateMessage } from '../../../src/core/write/uniqueness';
import { User } from '../../../src/resources/user';

/** Declares a resource of this name with a date, a pulse rate and these options. */
function declare(name: string, options: Partial<ResourceOptions>, isOwnerHidden = false) {
  const classes = {
    [name]: class extends Model {
      declare id: number;
      declare date: string;
      declare pulse: number;
      declare userId: number;
    },
  };
  const declared = classes[name]!;
  Id()(declared.prototype, 'id');
  DateField()(declared.prototype, 'date');
  IntegerField()(declared.prototype, 'pulse');
  Owner(() => User, { hiddenInRest: isOwnerHidden })(declared.prototype, 'userId');
  Resource({
    restName: name.toLowerCase(),
    description: 'The pulse of a user on one day.',
    isOwned: true,
    scopeGroup: 'body',
    ...options,
  })(declared);
  return declared;
}

test('rejects a filter by `id` and names the resource, the field and the remedy', () => {
  expect(() => declare('Pulse', { ordering: ['date'], filters: ['id', 'date'] })).toThrow(
    'Pulse: `filters` of the REST resource `pulse` may not name the field `id`. Remove it: one row is served at pulse/<id>/.',
  );
  expect(() =>
    declare('Pulse', { filters: ['date'], views: { pulseinfo: { filters: [{ field: 'id' }] } } }),
  ).toThrow('Pulse: `filters` of the REST resource `pulseinfo` may not name the field `id`.');
});

test.each([
  [
    { apiRootPosition: 9, filters: ['date__gte'] },
    'is ignored by the reference. Declare comparisons for resources without `apiRootPosition`.',
  ],
  [{ filters: ['date__after'] }, 'must end in one of gt, gte, lt, lte.'],
  [
    { filters: ['userId__gte'] },
    'compares values of the kind relation. Only integer, decimal, date can be compared.',
  ],
])('rejects the comparison in %j', (options, message) => {
  const [filter] = options.filters;
  expect(() => declare('Pulse', options)).toThrow(
    `Pulse: the filter \`${filter}\` of the REST resource \`pulse\` ${message}`,
  );
});

test('rejects two indexes of one name on a table and names their declarations', () => {
  const declared = declare('RestingPulse', {
    ordering: ['-pulse'],
    uniqueFields: ['date', 'userId'],
    filters: ['date'],
  });
  expect(() => declareIndexes([declared])).toThrow(
    'Two indexes have the name "resting_pulse_user_id_date": ' +
      "on the table \"resting_pulse\" for `uniqueFields: ['date', 'userId']` of RestingPulse, and " +
      'on the table "resting_pulse" for `filters: [\'date\']` of RestingPulse. Remove one of the two declarations.',
  );
});

test('rejects two indexes of one name that two resources declare', () => {
  const [one, other] = ['MorningPulse', 'EveningPulse'].map((name) =>
    declare(name, { table: 'pulse', filters: ['date'] }),
  ) as [ReturnType<typeof declare>, ReturnType<typeof declare>];
  expect(() => declareIndexes([one, other])).toThrow(
    'Two indexes have the name "pulse_user_id_id": on the table "pulse" for `isOwned` of MorningPulse, and on the table "pulse" for `isOwned` of EveningPulse.',
  );
});

test('accepts a declaration without contradictions', () => {
  expect(() =>
    declareIndexes([
      declare('MeanPulse', {
        ordering: ['-date'],
        uniqueFields: ['date', 'userId'],
        filters: ['date', 'pulse'],
      }),
    ]),
  ).not.toThrow();
});

describe('the message about a uniqueness violation', () => {
  test('names the owner over REST but not over GraphQL', () => {
    const declared = declare('PulseOfDay', { uniqueFields: ['userId', 'date'] });
    expect(duplicateMessage(declared, 'rest')).toBe(
      'The fields date, user must make a unique set.',
    );
    expect(duplicateMessage(declared, 'graphql')).toBe('The field date must be unique.');
  });

  test('omits fields that REST hides', () => {
    const one = declare('HiddenPulse', { uniqueFields: ['date', 'userId'] }, true);
    expect(duplicateMessage(one, 'rest')).toBe('The field date must be unique.');
    const several = declare('HiddenPulses', { uniqueFields: ['pulse', 'date', 'userId'] }, true);
    expect(duplicateMessage(several, 'rest')).toBe(
      'The fields date, pulse must make a unique set.',
    );
  });
});
