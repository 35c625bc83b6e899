/** One input of a form with its label, its help and its errors, chosen by what the field holds. */
import type { JSX } from 'preact';
import { messageOf, rangeOf } from './messages';
import type { Control } from './view/view';
import { CHOSEN } from './view/understood';
import { Words } from './words';

export interface ControlProps {
  control: Control;
  /** Tells the inputs of several forms on one page apart. */
  prefix: string;
  values: readonly string[];
  errors?: readonly string[];
  /** An input that narrows a list: nothing chosen means any. */
  filter?: boolean;
  /** The first one that is wrong. */
  focused?: boolean;
  /** The browser checks too. */
  checked?: boolean;
  base: string;
}

type InputType = 'text' | 'search' | 'number' | 'date' | 'time' | 'datetime-local' | 'url' | 'password';

/** Longer texts get more lines. */
const LINE = 120;
const DATE = /^\d{4}-\d\d-\d\d/;
const TIME = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,3})?)?$/;
const NUMBER = /^-?\d+(\.\d+)?$/;

type Test = (value: string) => boolean;
const isNumber: Test = (value) => NUMBER.test(value);
const isTime: Test = (value) => TIME.test(value);
const isDate: Test = (value) => {
  const moment = DATE.test(value) ? Date.parse(`${value}T00:00:00Z`) : NaN;
  // The 30th of February is read as the 2nd of March.
  return !Number.isNaN(moment) && new Date(moment).toISOString().startsWith(value);
};
const isMoment: Test = (value) => {
  const [day = '', time = ''] = value.split('T');
  return isDate(day) && isTime(time);
};
const isAnything: Test = () => true;

export const inputId = (prefix: string, key: string) => `${prefix}-${key}`;

/** The input type of a kind, and the values that such an input can show; any other value is shown as text, so that it is not lost. */
const TYPES: Partial<Record<Control['kind'], readonly [InputType, Test]>> = {
  integer: ['number', isNumber],
  decimal: ['number', isNumber],
  relation: ['number', isNumber],
  date: ['date', isDate],
  time: ['time', isTime],
  datetime: ['datetime-local', isMoment],
  url: ['url', isAnything],
  password: ['password', isAnything],
};

function typeOf({ kind, commas, searched }: Control, value: string): InputType {
  if (searched) return 'search';
  const [type, shows] = (!commas && TYPES[kind]) || ['text' as const, isAnything];
  return value === '' || shows(value) ? type : 'text';
}

const step = ({ kind, places }: Control) =>
  kind === 'decimal' ? (places === undefined ? 'any' : String(10 ** -places)) : kind === 'time' || kind === 'datetime' ? '1' : undefined;

export function limitsOf(control: Control): string | undefined {
  const { kind, minLength, maxLength, places } = control;
  const words: string[] = [];
  const range = rangeOf(control);
  if (range) words.push(range);
  if (places && kind === 'decimal') words.push(`up to ${places} decimal places`);
  if (minLength !== undefined && maxLength !== undefined) words.push(`${minLength} to ${maxLength} characters`);
  else if (maxLength !== undefined && kind !== 'choice' && kind !== 'image') words.push(`at most ${maxLength} characters`);
  return words.length ? `${words.join(', ').replace(/^./, (letter) => letter.toUpperCase())}.` : undefined;
}

function Select({ control, id, values, filter, common }: ControlProps & { id: string; common: object }) {
  const { choices = [], required } = control;
  const chosen = values.at(-1) ?? '';
  const nothing = filter ? 'Any' : '–';
  // Programs know it as a row of hyphens.
  const options = choices.map(({ value, label }) => ({ value: value ?? '', label: /^-+$/.test(String(label)) ? nothing : String(label) }));
  if (!options.some(({ value }) => value === '') && (filter || !required || chosen === '')) options.unshift({ value: '', label: nothing });
  // What was sent but is no choice is kept, and the message beside it says why it is wrong.
  if (!options.some(({ value }) => value === chosen)) options.push({ value: chosen, label: chosen });
  return (
    <select id={id} name={control.key} {...common}>
      {options.map(({ value, label }) => (
        <option key={value} value={value} selected={value === chosen}>
          {label}
        </option>
      ))}
    </select>
  );
}

function Several({ control, id, values, describedBy }: ControlProps & { id: string; describedBy?: string }) {
  return (
    <div class="checks" id={id} tabIndex={-1} role="group" aria-label={control.label} aria-describedby={describedBy}>
      {control.choices!.map(({ value, label }) => (
        <label key={value}>
          <input type="checkbox" name={control.key} value={value ?? ''} checked={values.includes(value ?? '')} /> {label}
        </label>
      ))}
    </div>
  );
}

/** Below the field itself, so that the one that is chosen is sent after what was typed, and counts. */
function Found({ control: { key, label, found = [] } }: { control: Control }) {
  if (found.length === 0) return null;
  return (
    <div class="checks" role="radiogroup" aria-label={`${label}: found`}>
      {found.map(({ value, label: name }) => (
        <label key={value}>
          <input type="radio" name={key} value={value!} /> {name}
        </label>
      ))}
    </div>
  );
}

function Input(props: ControlProps & { id: string; common: object; describedBy?: string }) {
  const { control, id, values, filter, common } = props;
  const { key, kind, choices, many, line, maxLength } = control;
  const value = control.chosen ?? values.at(-1) ?? '';
  if (many && choices) return <Several {...props} />;
  if (kind === 'boolean' && filter)
    return <Select {...props} control={{ ...control, choices: ['True', 'False'].map((text) => ({ value: text, label: text })) }} />;
  if (kind === 'boolean')
    return (
      <>
        {/* An unchecked box sends nothing, which a PATCH would take for unchanged. */}
        <input type="hidden" name={key} value="false" />
        <input type="checkbox" id={id} name={key} value="true" checked={value === 'true'} {...common} />
      </>
    );
  if (choices && !control.commas) return <Select {...props} />;
  if (kind === 'image') return <input type="file" id={id} name={key} accept="image/png,image/jpeg" {...common} />;
  if (kind === 'string' && !filter && !line && (maxLength === undefined || maxLength > LINE))
    return (
      <textarea id={id} name={key} {...common}>
        {/* A browser drops the first line break. */ `\n${value}`}
      </textarea>
    );
  const type = typeOf(control, value);
  const limits = type === 'number' ? { min: control.min, max: control.max } : {};
  const shown = type === 'password' ? undefined : value;
  const attributes = { type, id, name: key, value: shown, step: step(control), ...limits, autocomplete: 'off', ...common };
  if (control.searched) Object.assign(attributes, { 'data-suggest': control.searched });
  return (
    <>
      {/* preact knows the roles of each single type, and this is any of several. */}
      <input {...(attributes as JSX.IntrinsicElements['input'])} />
      {control.searched && !filter && (
        <input type="hidden" id={`${id}-chosen`} name={`${CHOSEN}${key}`} value={control.chosen === undefined ? '' : values.at(-1)} />
      )}
    </>
  );
}

export function Field(props: ControlProps) {
  const { control, prefix, errors = [], filter, focused, checked, base } = props;
  const id = inputId(prefix, control.key);
  const limits = filter ? undefined : limitsOf(control);
  const needsId = control.kind === 'relation' && !control.choices && !control.commas;
  const hasHelp = Boolean(control.help ?? limits) || needsId;
  const described = [errors.length ? `${id}-error` : '', hasHelp ? `${id}-help` : ''].filter(Boolean).join(' ') || undefined;
  const common = {
    'aria-describedby': described,
    ...(errors.length && { 'aria-invalid': 'true' }),
    ...(control.required && !filter && { 'aria-required': 'true' }),
    ...(focused && { autofocus: true }),
    ...(checked && control.required && { required: true }),
  };
  const grouped = control.many && control.choices;
  const Label = grouped ? 'div' : 'label';
  return (
    <div class={errors.length ? 'field wrong' : 'field'}>
      <Label class="label" {...(!grouped && { for: id })}>
        {control.label}
        {!control.required && !filter && control.kind !== 'boolean' && <span class="optional"> optional</span>}
      </Label>
      <Input {...props} id={id} common={common} describedBy={described} />
      <Found control={control} />
      {hasHelp && (
        <p class="help" id={`${id}-help`}>
          <Words text={[control.help, limits].filter(Boolean).join(' ')} />
          {needsId && ` ${control.searched ? 'Type a name.' : 'Enter an id.'} `}
          {needsId && control.target && <a href={`${base}/${control.target}/`}>See all</a>}
        </p>
      )}
      {errors.length > 0 && (
        <p class="error" id={`${id}-error`}>
          {messageOf(control, props.values, errors)}
        </p>
      )}
    </div>
  );
}
