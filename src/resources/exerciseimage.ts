import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Model } from 'sequelize-typescript';
import type { Context } from '../core/context';
import { crud } from '../core/crud';
import { Choose, Flag, Id, Image, Ref, Text, Uuid } from '../core/fields';
import { Needs } from '../core/plan';
import { Resource } from '../core/resource';
import { ExerciseBase } from './exercisebase';
import { License } from './license';
import { PENDING, STATUS } from './status';

@Resource({
  rest: 'exerciseimage',
  position: 19,
  dump: 'exercises.exerciseimage',
  description: 'An image of an exercise, pending ones included.',
  ordering: ['-isMain', 'id'],
  routes: 'all',
  permits: ['POST'],
  filters: ['isMain', 'status', 'exerciseBaseId', 'licenseId', 'licenseAuthor'],
})
export class ExerciseImage extends Model<ExerciseImage> {
  @Id() declare id: number;
  @Uuid({ readOnly: true }) declare uuid: string;
  @Ref(() => ExerciseBase, { label: 'Exercise', rest: 'exercise' }) declare exerciseBaseId: number;
  @Image({ label: 'Image', help: 'Only PNG and JPEG formats are supported.', max: 100 }) declare image: string;
  @Flag({ label: 'Main picture', help: 'Whether this is the main image of the exercise.', default: false }) declare isMain: boolean;
  @Choose({ label: 'Status', choices: STATUS, default: PENDING, readOnly: true, max: 2 }) declare status: string;
  @Ref(() => License, { label: 'License', default: 2, hidden: true }) declare licenseId: number;
  @Text({ label: 'Author', max: 50, null: true, blank: true, hidden: true }) declare licenseAuthor: string | null;
}

@Resolver(() => ExerciseImage)
export default class ExerciseImageResolver extends crud(ExerciseImage) {
  @FieldResolver(() => String, { description: 'URL of the image.' })
  @Needs(() => ExerciseImage, 'image')
  image(@Root() row: any, @Ctx() { baseUrl }: Context): string {
    return `${baseUrl}/media/${row.image}`;
  }
}
