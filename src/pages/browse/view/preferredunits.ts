/** Labels form inputs for masses with the unit that the viewer prefers. */
import type { GraphQLSchema } from 'graphql';
import type { Endpoint, PrepareOperation, RunOperation } from '../../../rest/endpoints';
import type { Row } from './cells';
import { fieldInPreferredUnit } from './timeseries';
import { prefersPounds } from './rowreader';
import type { FormControl } from './viewmodel';

export class PreferredUnitLabels {
  private readUnitSystem?: RunOperation;
  /** REST key of the field whose values are in the preferred unit, by type name; an empty string if the type has no such field. */
  private readonly keyByType = new Map<string, string>();

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly prepare: PrepareOperation,
  ) {}

  /** Returns a function that adds the preferred unit to the input for a mass. Reads the preference only if the type has a field for a mass. */
  async unitAdderFor({ type }: Endpoint, context: object): Promise<(control: FormControl) => FormControl> {
    let key = this.keyByType.get(type.name);
    if (key === undefined) this.keyByType.set(type.name, (key = fieldInPreferredUnit(type, this.schema)?.rest ?? ''));
    if (key === '') return (control) => control;
    this.readUnitSystem ??= this.prepare('{ viewer { profile { unitSystem } } }');
    const { data } = await this.readUnitSystem(context, {});
    const unit = prefersPounds((data?.viewer?.profile ?? {}) as Row) ? 'lb' : 'kg';
    return (control) => (control.key === key ? { ...control, unit } : control);
  }
}
