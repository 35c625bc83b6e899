/**
 * Type tests of decorators, which check the type of the decorated property. `npm run check:types`
 * fails if an expected error is missing. This code never runs.
 */
import { Model } from 'sequelize-typescript';
import {
  ChoiceField,
  TimeField,
  DateField,
  DecimalField,
  BooleanField,
  Id,
  DateTimeField,
  TextField,
  UuidField,
  IntegerField,
  type RowFields,
  type RowOf,
} from '../../../src/engine/declare/fields';
import { FieldExtensions } from '../../../src/engine/declare/field-extensions';
import { RequiresFields } from '../../../src/engine/read/query-plan';
import { Children, Links, Owner, Ref } from '../../../src/engine/declare/resource';
import { User } from '../../../src/accounts/user';

export class MatchingModel extends Model {
  @Id() declare id: number;
  @TextField({ max: 10 }) declare text: string;
  @TextField({ max: 10, allowNull: true }) declare textOrNull: string | null;
  @IntegerField() declare whole: number;
  @DecimalField({ maxDigits: 5, decimalPlaces: 2 }) declare decimal: string;
  @BooleanField() declare flag: boolean;
  @UuidField() declare uuid: string;
  @DateField() declare day: string;
  @TimeField({ allowNull: true }) declare clock: string | null;
  @DateTimeField() declare moment: string;
  @Ref(() => User) declare userRefId: number;
  @Ref(() => User, { allowNull: true }) declare otherId: number | null;
  @Owner(() => User) declare userId: number;
}

export class MismatchingModel extends Model {
  // @ts-expect-error a key is a number
  @Id() declare id: string;
  // @ts-expect-error a text is no number
  @TextField({ max: 10 }) declare text: number;
  // @ts-expect-error it may be null
  @TextField({ max: 10, allowNull: true }) declare textOrNull: string;
  // @ts-expect-error whole numbers are no texts
  @IntegerField() declare whole: string;
  // @ts-expect-error decimals are texts, which keep their precision
  @DecimalField({ maxDigits: 5, decimalPlaces: 2 }) declare decimal: number;
  // @ts-expect-error a decimal has digits
  @DecimalField({ decimalPlaces: 2 }) declare unlimited: string;
  // @ts-expect-error a flag is no text
  @BooleanField() declare flag: string;
  // @ts-expect-error a day is a text
  @DateField() declare day: Date;
  // @ts-expect-error a moment is a text
  @DateTimeField() declare moment: Date;
  // @ts-expect-error there is no such option
  @TextField({ max: 10, unknown: true }) declare misspelt: string;
  // @ts-expect-error there is no such option
  @Ref(() => User, { unknown: true }) declare misspeltId: number;
  // @ts-expect-error a choice has choices
  @ChoiceField({}) declare choice: string;
  // @ts-expect-error a reference is a key
  @Ref(() => User) declare parent: User;
  // @ts-expect-error an optional reference may be null
  @Ref(() => User, { allowNull: true }) declare otherId: number;
  // @ts-expect-error an owner is a key
  @Owner(() => User) declare userId: string;
  // @ts-expect-error a link declares its table
  @Links(() => User) declare links: number[];
  // @ts-expect-error children declare which of their fields references the row
  @Children(() => User, {}) declare children: User[];
}

export class CustomResolvers {
  @RequiresFields(() => MatchingModel, 'text')
  declared(row: RowFields<MatchingModel, 'id' | 'text'>): string {
    return row.text;
  }

  @RequiresFields(() => MatchingModel)
  wholeRow(row: RowOf<MatchingModel>): RowOf<MatchingModel> {
    return row;
  }

  // @ts-expect-error a field that the resolver reads is not declared
  @RequiresFields(() => MatchingModel, 'text')
  forgotten(row: RowFields<MatchingModel, 'text' | 'whole'>): string {
    return row.text + row.whole;
  }

  // @ts-expect-error there is no such field
  @RequiresFields(() => MatchingModel, 'texts')
  misspelt(row: RowFields<MatchingModel, 'id'>): number {
    return row.id;
  }
}

export class Extended {
  @FieldExtensions({ cost: { weight: 2 }, action: { name: 'values', graphqlSelection: 'id' } })
  declared(): void {}

  // @ts-expect-error there is no such extension
  @FieldExtensions({ price: 2 })
  misspelt(): void {}

  // @ts-expect-error there is no such member of an action
  @FieldExtensions({ action: { name: 'values', chosen: 'id' } })
  misspeltAction(): void {}
}
