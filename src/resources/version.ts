import { Extensions, Query, Resolver } from 'type-graphql';

/** Of the REST API that clients are written for, not of this server. */
const COMPATIBLE_API = '2.0';

@Resolver()
export default class VersionResolver {
  @Query(() => String, { description: 'Version of the REST API that this one is compatible with.' })
  @Extensions({ only: 'rest', endpoint: { paths: ['version'], title: 'Application Version' } })
  version(): string {
    return COMPATIBLE_API;
  }
}
