/** The query `rateLimit`: cost of the running operation, and the remaining budget of its sender. */
import { Ctx, Field, Int, ObjectType, Query, Resolver } from 'type-graphql';
import type { Context } from '../context';
import { DateTimeScalar } from '../model/scalars';

const MS_PER_SECOND = 1000;

@ObjectType({
  description: 'What may be spent on operations. Costs are those of objects and fields that an operation may answer.',
  simpleResolvers: true,
})
class RateLimit {
  @Field(() => Int, { description: 'What this operation may cost; what it does not need is given back afterwards.' }) declare cost: number;
  @Field(() => Int, { description: 'What may be spent at once by whoever has spent nothing for a while.' }) declare limit: number;
  @Field(() => Int, { description: 'What may be spent now, this operation taken off.' }) declare remaining: number;
  @Field(() => DateTimeScalar, { description: 'When all of it may be spent again, if nothing more is spent until then.' })
  declare resetAt: string;
}

@Resolver()
export class RateLimitResolver {
  @Query(() => RateLimit, {
    nullable: true,
    description:
      'The budget of the viewer, or of the address of an anonymous request; null where the server sets none. RATE_LIMITED when it is spent.',
  })
  rateLimit(@Ctx() { budget: spending }: Context): RateLimit | null {
    const standing = spending?.state;
    if (!standing) return null;
    const { resetSeconds: seconds, ...rest } = standing;
    return { ...rest, resetAt: new Date(Date.now() + seconds * MS_PER_SECOND).toISOString() };
  }
}
