/** Labels inputs for masses with the unit of mass that the viewer prefers. */
import type { GraphQLSchema } from 'graphql';
import type { Endpoint, Prepare, Run } from '../../../rest/endpoints';
import type { Row } from './cells';
import { preferredFact } from './series';
import { isImperial } from './sheets';
import type { Control } from './view';

export class PreferredUnits {
  private run?: Run;
  /** By type name: the REST key of the field in the preferred unit; empty if the type has none. */
  private readonly keyByType = new Map<string, string>();

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly prepare: Prepare,
  ) {}

  /** Returns a function that adds the unit to the input. The preference is read only if the type has such a field. */
  async of({ type }: Endpoint, context: object): Promise<(control: Control) => Control> {
    let key = this.keyByType.get(type.name);
    if (key === undefined) this.keyByType.set(type.name, (key = preferredFact(type, this.schema)?.rest ?? ''));
    if (key === '') return (control) => control;
    this.run ??= this.prepare('{ viewer { profile { unitSystem } } }');
    const { data } = await this.run(context, {});
    const unit = isImperial((data?.viewer?.profile ?? {}) as Row) ? 'lb' : 'kg';
    return (control) => (control.key === key ? { ...control, unit } : control);
  }
}
