import { Query, Resolver } from 'type-graphql';
import { FieldExtensions } from '../core/model/fieldextensions';

/** Version of the REST API of the reference service, for which clients are written; not the version of this server. */
const COMPATIBLE_API_VERSION = '2.0';

@Resolver()
export default class VersionResolver {
  @Query(() => String, {
    description: 'Version of the REST API with which this one is compatible.',
  })
  @FieldExtensions({
    exclusiveTo: 'rest',
    endpoint: { paths: ['version'], title: 'Application Version' },
  })
  version(): string {
    return COMPATIBLE_API_VERSION;
  }
}
