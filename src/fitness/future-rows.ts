/**
 * Numbers of rows dated after today. Analyses leave them out unless `until` includes them, so a
 * mistyped year would otherwise go unnoticed.
 */
import { Ctx, FieldResolver, Int, ObjectType, Query, Resolver } from 'type-graphql';
import { ownerConditions } from '../engine/access/access';
import { createParameterBinder, whereClause } from '../engine/access/conditions';
import type { Context } from '../engine/context';
import { todayIn } from '../engine/declare/clock';
import { FieldExtensions } from '../engine/declare/field-extensions';
import { fieldOf, type Entity } from '../engine/declare/fields';
import { resourceOf } from '../engine/declare/registry';
import { startOfNextDaySql } from './queries';
import { WeightEntry } from './body/weight-entry';
import { DiaryEntry } from './nutrition/diary-entry';
import { WorkoutLog } from './training/workout-log';
import { WorkoutSession } from './training/workout-session';

@ObjectType({
  description:
    'Numbers of rows of the viewer that are dated after today, in the time zone of the account. Analyses leave them out unless `until` includes them.',
})
class FutureRows {}

async function countFutureRows(
  entity: Entity,
  dateFieldName: string,
  context: Context,
): Promise<number> {
  const { timeZone } = context;
  const { bind, values } = createParameterBinder();
  const { column, kind } = fieldOf(entity, dateFieldName);
  const today = bind(todayIn(timeZone));
  const tomorrowSql =
    kind === 'datetime' ? startOfNextDaySql(today, bind(timeZone)) : `${today}::date + 1`;
  const where = whereClause(
    [...ownerConditions(entity, context), () => `t."${column}" >= ${tomorrowSql}`],
    't',
    bind,
  );
  const [row] = await context.session.query(
    `SELECT count(*)::int AS "count" FROM "${resourceOf(entity)!.table}" t${where}`,
    values,
  );

  return row!.count as number;
}

const COUNT_EXTENSIONS = { cost: { weight: 5 } };

@Resolver(() => FutureRows)
export class FutureRowsResolver {
  @Query(() => FutureRows, { description: 'Rows that are dated after today.' })
  @FieldExtensions({ exclusiveTo: 'graphql' })
  futureRows(): FutureRows {
    return {};
  }

  @FieldResolver(() => Int, { description: 'Body weights.' })
  @FieldExtensions(COUNT_EXTENSIONS)
  weightEntries(@Ctx() context: Context): Promise<number> {
    return countFutureRows(WeightEntry, 'date', context);
  }

  @FieldResolver(() => Int, { description: 'Logged sets.' })
  @FieldExtensions(COUNT_EXTENSIONS)
  workoutLogs(@Ctx() context: Context): Promise<number> {
    return countFutureRows(WorkoutLog, 'date', context);
  }

  @FieldResolver(() => Int, { description: 'Training sessions.' })
  @FieldExtensions(COUNT_EXTENSIONS)
  workoutSessions(@Ctx() context: Context): Promise<number> {
    return countFutureRows(WorkoutSession, 'date', context);
  }

  @FieldResolver(() => Int, { description: 'Diary entries.' })
  @FieldExtensions(COUNT_EXTENSIONS)
  diaryEntries(@Ctx() context: Context): Promise<number> {
    return countFutureRows(DiaryEntry, 'eatenAt', context);
  }
}
