/**
 * The query `rateLimit`: the cost of the operation itself and the remaining budget of the client.
 */
import { Ctx, Field, Float, ObjectType, Query, Resolver } from 'type-graphql';
import type { Context } from '../context';
import { DateTimeScalar } from '../declare/scalars';

const MS_PER_SECOND = 1000;

@ObjectType({
  description:
    'The budget for operations. The cost of an operation is estimated from the objects and fields that it may return.',
  simpleResolvers: true,
})
class RateLimit {
  @Field(() => Float, {
    description:
      'Estimated cost of this operation, with what its parsing has cost. The unused part is refunded afterwards.',
  })
  declare cost: number;
  @Field(() => Float, { description: 'The full budget.' }) declare limit: number;
  @Field(() => Float, { description: 'The remaining budget, after this operation.' })
  declare remaining: number;
  @Field(() => DateTimeScalar, {
    description: 'When the budget is fully replenished, if nothing more is spent.',
  })
  declare resetAt: string;
}

@Resolver()
export class RateLimitResolver {
  @Query(() => RateLimit, {
    nullable: true,
    description:
      'The budget of the viewer, or of the address of an anonymous client; null if the server sets none. When it is spent, requests are rejected with RATE_LIMITED.',
  })
  rateLimit(@Ctx() { budget }: Context): RateLimit | null {
    const budgetState = budget?.budgetState;

    if (!budgetState) return null;
    const { resetSeconds: seconds, ...rest } = budgetState;

    return { ...rest, resetAt: new Date(Date.now() + seconds * MS_PER_SECOND).toISOString() };
  }
}
