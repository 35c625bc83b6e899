/** The unit of numbers that are meant in the unit of weight that the viewer prefers. */
import type { GraphQLSchema } from 'graphql';
import type { Endpoint, Prepare, Run } from '../../../rest/endpoints';
import type { Row } from './cells';
import { preferredFact } from './series';
import { isImperial } from './sheets';
import type { Control } from './view';

export class PreferredUnits {
  private run?: Run;
  /** By the names of types: what their fields are called in forms; empty where they have none. */
  private readonly keys = new Map<string, string>();

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly prepare: Prepare,
  ) {}

  /** Adds the unit to the control of such a number. Nothing is asked for where there is none. */
  async of({ type }: Endpoint, context: object): Promise<(control: Control) => Control> {
    let key = this.keys.get(type.name);
    if (key === undefined) this.keys.set(type.name, (key = preferredFact(type, this.schema)?.rest ?? ''));
    if (key === '') return (control) => control;
    this.run ??= this.prepare('{ viewer { profile { unitSystem } } }');
    const { data } = await this.run(context, {});
    const unit = isImperial((data?.viewer?.profile ?? {}) as Row) ? 'lb' : 'kg';
    return (control) => (control.key === key ? { ...control, unit } : control);
  }
}
