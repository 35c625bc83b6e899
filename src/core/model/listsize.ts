/** Declares the typical length of a list field without pagination, for cost estimates (`@listSize` of IBM's cost directives). */
import { Extensions } from 'type-graphql';

export const listSizeExtensions = (assumedSize: number) => ({ listSize: { assumedSize } });

export const ListSize = (assumedSize: number) => Extensions(listSizeExtensions(assumedSize));
