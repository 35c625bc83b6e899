/**
 * IBM's cost directives (https://ibm.github.io/graphql-specs/cost-spec.html): print the facts about fields from which costs are estimated. A field has
 * them only if they differ from the defaults, and no `@listSize` if its arguments determine the length of the list.
 */
import { DirectiveLocation, GraphQLDirective, GraphQLInt, GraphQLNonNull, GraphQLString, type GraphQLFieldConfig } from 'graphql';
import type { Context } from '../core/context';

const COST = new GraphQLDirective({
  name: 'cost',
  description: 'Cost of the field in addition to that of its objects and values.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: { weight: { description: 'A number.', type: new GraphQLNonNull(GraphQLString) } },
});

const LIST_SIZE = new GraphQLDirective({
  name: 'listSize',
  description: 'Length of the list by which costs are estimated.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: { assumedSize: { description: 'The typical number of elements.', type: GraphQLInt } },
});

export const COST_DIRECTIVES = [COST, LIST_SIZE];

export function withCostDirectives(config: GraphQLFieldConfig<unknown, Context>): GraphQLFieldConfig<unknown, Context> {
  const { cost, listSize, directives } = config.extensions ?? {};
  const added = {
    ...(cost && { [COST.name]: { weight: String(cost.weight) } }),
    ...(typeof listSize?.assumedSize === 'number' && !config.args?.first && { [LIST_SIZE.name]: { assumedSize: listSize.assumedSize } }),
  };
  if (!Object.keys(added).length) return config;
  return { ...config, extensions: { ...config.extensions, directives: { ...(directives as object), ...added } } };
}
