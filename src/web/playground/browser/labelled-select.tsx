/** Select element with a visible label. The accessible name `name` defaults to the label. */
export function LabelledSelect<Value extends string>(props: {
  label: string;
  name?: string;
  value: string;
  options: readonly (readonly [value: Value, text: string])[];
  onChoose: (value: Value) => void;
}) {
  const { label, name = label, value, options, onChoose } = props;

  return (
    <label>
      {label}{' '}
      <select
        aria-label={name}
        value={value}
        onChange={({ target }) => onChoose(target.value as Value)}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
