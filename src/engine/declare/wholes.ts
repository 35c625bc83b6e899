/** Wholes of parts: the rows together with which other rows are saved, such as plans with meals. */
import { memoize } from '../../shared/memoize';
import { partFields, type Entity } from './fields';
import { allEntities } from './registry';

interface Whole {
  entity: Entity;

  /** Field of the part that refers to the whole. */
  referenceFieldName: string;
}

export const wholeByPart = memoize(
  () =>
    new Map(
      allEntities().flatMap((entity) =>
        partFields(entity).map(({ target, referenceFieldName }): [Entity, Whole] => [
          target(),
          { entity, referenceFieldName },
        ]),
      ),
    ),
);

export const wholeOf = (part: Entity): Whole | undefined => wholeByPart().get(part);
