import { Op } from 'sequelize';
import { Model } from 'sequelize-typescript';
import { ownerFieldValues } from '../../engine/access/access';
import { createCrudResolver } from '../../engine/schema/crud';
import { DateField, defaultValues, BooleanField, Id, TextField } from '../../engine/declare/fields';
import { Children, Owner, Resource } from '../../engine/declare/resource';
import { ScheduleStep } from './schedule-step';
import { User } from '../../accounts/user';

@Resource({
  restName: 'schedule',
  inReference: { apiRootPosition: 4 },
  dumpModelName: 'manager.schedule',
  description:
    'A sequence of workouts, each for a number of weeks. A user has at most one active schedule.',
  isOwned: true,
  scopeGroup: 'training',
  ordering: ['id'],
  uniqueFlag: { flagFieldName: 'isActive', parentFieldName: 'userId' },
  filters: ['isActive', 'isLoop', 'startsOn', 'name'],
})
export class Schedule extends Model<Schedule> {
  @Id() declare id: number;
  @TextField({
    label: 'Name',
    helpText: 'Name or short description of the schedule, e.g. "Program XYZ".',
    max: 100,
    graphqlAllowBlank: true,
  })
  declare name: string;
  @DateField({
    label: 'Start date',
    columnAndRestKey: 'start_date',
    description: 'The day on which the first workout begins.',
    default: defaultValues.today,
  })
  declare startsOn: string;
  @BooleanField({
    label: 'Schedule active',
    helpText: 'Whether this is the active schedule. Activating it deactivates the others.',
    default: true,
  })
  declare isActive: boolean;
  @BooleanField({
    label: 'Is a loop',
    helpText: 'Whether to start over after the last workout.',
    default: false,
  })
  declare isLoop: boolean;
  @Owner(() => User, { hiddenInRest: true }) declare userId: number;
  @Children(() => ScheduleStep, 'scheduleId', {
    isSavedWithParent: true,
    assumedSize: 4,
    description: 'The steps of the schedule, in order.',
  })
  declare steps: ScheduleStep[];
}

export default createCrudResolver(Schedule, {
  /**
   * Locks the account, so that of two concurrent writes that activate a schedule, the second
   * deactivates the schedule of the first.
   */
  async onTransactionStart(_rows, { viewer }, transaction) {
    await transaction.query('SELECT FROM "user_account" WHERE "id" = $1 FOR NO KEY UPDATE', [
      viewer!.id,
    ]);
  },
  async afterRowsWritten(writtenRows, context, transaction) {
    // If several of the written schedules are active, only the last one stays active.
    const lastActiveSchedule = writtenRows.findLast(({ values }) => values.isActive === true);

    if (!lastActiveSchedule) return;
    const where = {
      ...ownerFieldValues(Schedule, context),
      id: { [Op.ne]: lastActiveSchedule.id },
      isActive: true,
    };

    await transaction.model(Schedule).update({ isActive: false }, { where });
  },
});
