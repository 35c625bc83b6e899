/** A form field: an input with its label, help text and validation errors. */
import { DateTime } from 'luxon';
import type { JSX } from 'preact';
import { IMAGE_FORMATS } from '../../files/formats';
import { NUMBER_PATTERN, validationMessage, describeRange } from './validation-messages';
import type { FormControl, StoredValue } from './view/view-model';
import { formatControlValue } from './view/stored-values';
import { CHOSEN_ID_FIELD_PREFIX } from './view/name-resolver';
import { listPath } from './view/page-routes';
import { TextWithCode } from './rich-text';

export interface FormFieldProps {
  control: FormControl;

  /** Prefix that makes element ids unique among the forms of the page. */
  idPrefix: string;
  values: readonly string[];
  errors?: readonly string[];

  /** The stored value, if another client has changed it since the form was opened. */
  storedValue?: StoredValue;

  /** Whether the input filters a list. In a filter, an empty choice means any value. */
  isFilter?: boolean;

  /** Whether the input gets the focus, because it is the first invalid one. */
  hasFocus?: boolean;

  /** Whether the browser validates required fields, in addition to the server. */
  isValidatedByBrowser?: boolean;
}

type InputType =
  'text' | 'search' | 'number' | 'date' | 'time' | 'datetime-local' | 'url' | 'password';

/** Text fields with a larger maximum length are edited in a textarea. */
const MAX_SINGLE_LINE_CHARACTERS = 120;
const DATE_PATTERN = /^\d{4}-\d\d-\d\d$/;
const TIME_PATTERN = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,3})?)?$/;

const ACCEPTED_IMAGE_TYPES = Object.values(IMAGE_FORMATS)
  .map(({ mediaType }) => mediaType)
  .join(',');

type ValueCheck = (value: string) => boolean;
const isNumber: ValueCheck = (value) => NUMBER_PATTERN.test(value);
const isTime: ValueCheck = (value) => TIME_PATTERN.test(value);
const isDate: ValueCheck = (value) => DATE_PATTERN.test(value) && DateTime.fromISO(value).isValid;

const isDateTime: ValueCheck = (value) => {
  const [day = '', time = ''] = value.split('T');

  return isDate(day) && isTime(time);
};

const acceptsAnyText: ValueCheck = () => true;

export const inputId = (prefix: string, key: string) => `${prefix}-${key}`;

/**
 * HTML input type by kind of field, with a check whether it can show a value. Other values get a
 * text input, so that they are not lost.
 */
const INPUT_TYPES: Partial<Record<FormControl['kind'], readonly [InputType, ValueCheck]>> = {
  integer: ['number', isNumber],
  decimal: ['number', isNumber],
  relation: ['number', isNumber],
  date: ['date', isDate],
  time: ['time', isTime],
  datetime: ['datetime-local', isDateTime],
  url: ['url', acceptsAnyText],
  password: ['password', acceptsAnyText],
};

function inputTypeOf(
  { kind, isCommaSeparated, searchedTypeName }: FormControl,
  value: string,
): InputType {
  if (searchedTypeName) return 'search';
  const [type, canShow] = (!isCommaSeparated && INPUT_TYPES[kind]) || [
    'text' as const,
    acceptsAnyText,
  ];

  return value === '' || canShow(value) ? type : 'text';
}

function stepAttributeOf({ kind, decimalPlaces }: FormControl): string | undefined {
  if (kind === 'decimal') return decimalPlaces === undefined ? 'any' : String(10 ** -decimalPlaces);

  return kind === 'time' || kind === 'datetime' ? '1' : undefined;
}

function describeLimits(control: FormControl): string | undefined {
  const { kind, minLength, maxLength, decimalPlaces } = control;
  const phrases: string[] = [];
  const range = describeRange(control);

  if (range) phrases.push(range);
  if (decimalPlaces && kind === 'decimal') phrases.push(`up to ${decimalPlaces} decimal places`);

  if (minLength !== undefined && maxLength !== undefined) {
    phrases.push(`${minLength} to ${maxLength} characters`);
  } else if (maxLength !== undefined && kind !== 'choice' && kind !== 'image') {
    phrases.push(`at most ${maxLength} characters`);
  }

  if (phrases.length === 0) return undefined;

  return `${phrases.join(', ').replace(/^./, (letter) => letter.toUpperCase())}.`;
}

function Select({
  control,
  id,
  values,
  isFilter,
  commonAttributes,
}: FormFieldProps & { id: string; commonAttributes: object }) {
  const { choices = [], required } = control;
  const chosenValue = values.at(-1) ?? '';
  const emptyLabel = isFilter ? 'Any' : '–';
  // The REST API labels the empty choice with hyphens.
  const options = choices.map(({ value, label }) => ({
    value: value ?? '',
    label: /^-+$/.test(String(label)) ? emptyLabel : String(label),
  }));

  if (!options.some(({ value }) => value === '') && (isFilter || !required || chosenValue === '')) {
    options.unshift({ value: '', label: emptyLabel });
  }

  // Keeps an invalid choice that was submitted, next to its error message.
  if (!options.some(({ value }) => value === chosenValue)) {
    options.push({ value: chosenValue, label: chosenValue });
  }

  return (
    <select id={id} name={control.key} {...commonAttributes}>
      {options.map(({ value, label }) => (
        <option key={value} value={value} selected={value === chosenValue}>
          {label}
        </option>
      ))}
    </select>
  );
}

function CheckboxGroup({
  control,
  id,
  values,
  isFilter,
  describedBy,
}: FormFieldProps & { id: string; describedBy?: string }) {
  return (
    <div
      class="checks"
      id={id}
      tabIndex={-1}
      role="group"
      aria-label={control.label}
      aria-describedby={describedBy}
    >
      {/* Unchecked checkboxes send nothing, which PATCH would treat as unchanged. */}
      {!isFilter && <input type="hidden" name={control.key} value="" />}
      {control.choices!.map(({ value, label }) => (
        <label key={value}>
          <input
            type="checkbox"
            name={control.key}
            value={value ?? ''}
            checked={values.includes(value ?? '')}
          />{' '}
          {label}
        </label>
      ))}
    </div>
  );
}

/**
 * Radio buttons for the rows that match a typed name. They follow the text input of the same key,
 * because the server uses the last value of a key.
 */
function MatchingRows({ control: { key, label, matches = [] } }: { control: FormControl }) {
  if (matches.length === 0) return null;

  return (
    <div class="checks" role="radiogroup" aria-label={`${label}: matches`}>
      {matches.map(({ value, label: name }) => (
        <label key={value}>
          <input type="radio" name={key} value={value!} /> {name}
        </label>
      ))}
    </div>
  );
}

function ConflictChoice({
  control,
  values,
  storedValue,
}: FormFieldProps & { storedValue: StoredValue }) {
  const { key, label } = control;
  const options = [
    { title: 'Yours', text: values.at(-1), displayText: formatControlValue(control, values) },
    { title: 'Stored now', text: storedValue.texts.at(-1), displayText: storedValue.label },
  ];

  return (
    <div class="checks versions" role="radiogroup" aria-label={label}>
      {options.map(({ title, text = '', displayText }, index) => (
        <label key={title}>
          <input type="radio" name={key} value={text} checked={index === 0} /> {title}:{' '}
          <span class="value">{displayText}</span>
        </label>
      ))}
    </div>
  );
}

function Input(
  props: FormFieldProps & { id: string; commonAttributes: object; describedBy?: string },
) {
  const { control, id, values, isFilter, commonAttributes } = props;
  const { key, kind, choices, multiple, isSingleLine, maxLength } = control;
  const value = control.chosenRowName ?? values.at(-1) ?? '';

  if (multiple && choices) return <CheckboxGroup {...props} />;

  if (kind === 'boolean' && isFilter) {
    return (
      <Select
        {...props}
        control={{
          ...control,
          choices: ['True', 'False'].map((text) => ({ value: text, label: text })),
        }}
      />
    );
  }

  if (kind === 'boolean') {
    return (
      <>
        {/* An unchecked checkbox sends nothing, which PATCH would treat as unchanged. */}
        <input type="hidden" name={key} value="false" />
        <input
          type="checkbox"
          id={id}
          name={key}
          value="true"
          checked={value === 'true'}
          {...commonAttributes}
        />
      </>
    );
  }

  if (choices && !control.isCommaSeparated) return <Select {...props} />;

  if (kind === 'image') {
    return (
      <input type="file" id={id} name={key} accept={ACCEPTED_IMAGE_TYPES} {...commonAttributes} />
    );
  }

  if (
    kind === 'string' &&
    !isFilter &&
    !isSingleLine &&
    (maxLength === undefined || maxLength > MAX_SINGLE_LINE_CHARACTERS)
  ) {
    return (
      <textarea id={id} name={key} {...commonAttributes}>
        {/* HTML drops the first line break of a textarea. */ `\n${value}`}
      </textarea>
    );
  }

  const type = inputTypeOf(control, value);
  const limits = type === 'number' ? { min: control.min, max: control.max } : {};
  const inputValue = type === 'password' ? undefined : value;
  const attributes = {
    type,
    id,
    name: key,
    value: inputValue,
    step: stepAttributeOf(control),
    ...limits,
    autocomplete: 'off',
    ...commonAttributes,
  };

  if (control.searchedTypeName) {
    Object.assign(attributes, { 'data-suggest': control.searchedTypeName });
  }

  return (
    <>
      {/* Needs a cast, because Preact types the attributes of each input type separately. */}
      <input {...(attributes as JSX.IntrinsicElements['input'])} />
      {control.searchedTypeName && !isFilter && (
        <input
          type="hidden"
          id={`${id}-chosen`}
          name={`${CHOSEN_ID_FIELD_PREFIX}${key}`}
          value={control.chosenRowName === undefined ? '' : values.at(-1)}
        />
      )}
    </>
  );
}

export function FormField(props: FormFieldProps) {
  const {
    control,
    idPrefix,
    errors = [],
    isFilter,
    hasFocus,
    isValidatedByBrowser,
    storedValue,
  } = props;
  const id = inputId(idPrefix, control.key);
  const limitsHelpText = isFilter ? undefined : describeLimits(control);
  const expectsRowId = control.kind === 'relation' && !control.choices && !control.isCommaSeparated;
  const hasHelp = Boolean(control.helpText ?? limitsHelpText) || expectsRowId;
  const describedByIds =
    [errors.length ? `${id}-error` : '', hasHelp ? `${id}-help` : ''].filter(Boolean).join(' ') ||
    undefined;
  const commonAttributes = {
    'aria-describedby': describedByIds,
    ...(errors.length && { 'aria-invalid': 'true' }),
    ...(control.required && !isFilter && { 'aria-required': 'true' }),
    ...(hasFocus && { autofocus: true }),
    ...(isValidatedByBrowser && control.required && { required: true }),
  };
  const offersValueChoice = storedValue !== undefined && !control.multiple;
  const isInputGroup = offersValueChoice || (control.multiple && control.choices);
  const Label = isInputGroup ? 'div' : 'label';

  return (
    <div class={errors.length || storedValue ? 'field wrong' : 'field'}>
      <Label class="label" {...(!isInputGroup && { for: id })}>
        {control.label}
        {!control.required && !isFilter && control.kind !== 'boolean' && (
          <span class="optional"> optional</span>
        )}
      </Label>
      {offersValueChoice && <ConflictChoice {...props} storedValue={storedValue} />}
      {!offersValueChoice && (
        <Input
          {...props}
          id={id}
          commonAttributes={commonAttributes}
          describedBy={describedByIds}
        />
      )}
      {storedValue && !offersValueChoice && <p class="help">Stored now: {storedValue.label}</p>}
      <MatchingRows control={control} />
      {hasHelp && (
        <p class="help" id={`${id}-help`}>
          <TextWithCode text={[control.helpText, limitsHelpText].filter(Boolean).join(' ')} />
          {expectsRowId && ` ${control.searchedTypeName ? 'Type a name.' : 'Enter an id.'} `}
          {expectsRowId && control.endpointName && (
            <a href={listPath(control.endpointName)}>See all</a>
          )}
        </p>
      )}
      {errors.length > 0 && (
        <p class="error" id={`${id}-error`}>
          {validationMessage(control, props.values, errors)}
        </p>
      )}
    </div>
  );
}
