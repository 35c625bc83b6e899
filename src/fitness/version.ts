import { Query, Resolver } from 'type-graphql';
import { FieldExtensions } from '../engine/declare/field-extensions';

/**
 * REST API version of the reference service, which its clients check. It is not the version of this
 * server.
 */
const REFERENCE_API_VERSION = '2.0';

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
    return REFERENCE_API_VERSION;
  }
}
