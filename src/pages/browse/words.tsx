/** A description of the schema: prose, with names between backticks. */
export const Words = ({ text }: { text: string }) => <>{text.split('`').map((part, index) => (index % 2 ? <code>{part}</code> : part))}</>;

const DAY = /(\d{4}-\d\d-\d\d)/;

/** A heading whose days stay whole at the end of a line. */
export const Unbroken = ({ text }: { text: string }) => (
  <>{text.split(DAY).map((part, index) => (index % 2 ? <span class="unbroken">{part}</span> : part))}</>
);
