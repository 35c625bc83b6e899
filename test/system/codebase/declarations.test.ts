/**
 * Declarations of resources that contradict themselves are refused when they are loaded, with a message that says what to change. Messages about
 * rows name only fields that the declaration shows.
 */
import { Model } from 'sequelize-typescript';
import { Day, Id, Whole } from '../../../src/core/model/fields';
import { declareIndexes } from '../../../src/core/model/indexes';
import type { ResourceOptions } from '../../../src/core/model/registry';
import { Owner } from '../../../src/core/model/relationfields';
import { Resource } from '../../../src/core/model/resource';
import { uniqueMessage } from '../../../src/core/write/uniqueness';
import { User } from '../../../src/resources/user';

/** A class of this name with a day, a pulse and these options. */
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
  Day()(declared.prototype, 'date');
  Whole()(declared.prototype, 'pulse');
  Owner(() => User, { hidden: isOwnerHidden })(declared.prototype, 'userId');
  Resource({ rest: name.toLowerCase(), description: 'The pulse of a user on one day.', owned: true, group: 'body', ...options })(declared);
  return declared;
}

test('a filter by `id` is refused, by the name of the resource, the field and what to do', () => {
  expect(() => declare('Pulse', { ordering: ['date'], filters: ['id', 'date'] })).toThrow(
    'Pulse: `filters` of the REST resource `pulse` may not name the field `id`. Remove it: one row is served at pulse/<id>/.',
  );
  expect(() => declare('Pulse', { filters: ['date'], views: { pulseinfo: { filters: [{ field: 'id' }] } } })).toThrow(
    'Pulse: `filters` of the REST resource `pulseinfo` may not name the field `id`.',
  );
});

test('two indexes of one name on one table are refused, by the declarations that ask for them', () => {
  const declared = declare('RestingPulse', { ordering: ['-pulse'], unique: ['date', 'userId'], filters: ['date'] });
  expect(() => declareIndexes([declared])).toThrow(
    'Two indexes have the name "resting_pulse_user_id_date": ' +
      "on the table \"resting_pulse\" for `unique: ['date', 'userId']` of RestingPulse, and " +
      'on the table "resting_pulse" for `filters: [\'date\']` of RestingPulse. Remove one of the two declarations.',
  );
});

test('two indexes of one name from two resources are refused too', () => {
  const [one, other] = ['MorningPulse', 'EveningPulse'].map((name) => declare(name, { table: 'pulse', filters: ['date'] })) as [
    ReturnType<typeof declare>,
    ReturnType<typeof declare>,
  ];
  expect(() => declareIndexes([one, other])).toThrow(
    'Two indexes have the name "pulse_user_id_id": on the table "pulse" for `owned` of MorningPulse, and on the table "pulse" for `owned` of EveningPulse.',
  );
});

test('a declaration without such a contradiction is accepted', () => {
  expect(() =>
    declareIndexes([declare('MeanPulse', { ordering: ['-date'], unique: ['date', 'userId'], filters: ['date', 'pulse'] })]),
  ).not.toThrow();
});

describe('the message for a row that is not unique', () => {
  test('names the owner over REST, which shows it', () => {
    const declared = declare('PulseOfDay', { unique: ['userId', 'date'] });
    expect(uniqueMessage(declared, 'rest')).toBe('The fields date, user must make a unique set.');
    expect(uniqueMessage(declared, 'graphql')).toBe('The field date must be unique.');
  });

  test('does not name what REST hides', () => {
    const one = declare('HiddenPulse', { unique: ['date', 'userId'] }, true);
    expect(uniqueMessage(one, 'rest')).toBe('The field date must be unique.');
    const several = declare('HiddenPulses', { unique: ['pulse', 'date', 'userId'] }, true);
    expect(uniqueMessage(several, 'rest')).toBe('The fields date, pulse must make a unique set.');
  });
});
