/**
 * Contradictory resource declarations are rejected when they are loaded, with a message that says
 * what to change. Uniqueness messages name only fields that the interface shows.
 *
 * @alone
 */
import { Model } from 'sequelize-typescript';
import { DateField, Id, IntegerField } from '../../../src/engine/declare/fields';
import type { ResourceOptions } from '../../../src/engine/declare/registry';
import { Owner, Resource } from '../../../src/engine/declare/resource';
import { duplicateMessage } from '../../../src/engine/write/uniqueness';
import { User } from '../../../src/accounts/user';

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
    { inReference: {}, filters: ['date__gte'] },
    'is ignored by the reference. Declare comparisons for resources without `inReference`.',
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
