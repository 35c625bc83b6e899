/** Decorator for fields with a list that has no pagination: its typical length, for cost estimates (`@listSize` of IBM's cost directives). */
import { Extensions } from 'type-graphql';

export const listSize = (assumedSize: number) => ({ listSize: { assumedSize } });

export const ListSize = (assumedSize: number) => Extensions(listSize(assumedSize));
