/** A description of the schema: prose, with names between backticks. */
export const Words = ({ text }: { text: string }) => <>{text.split('`').map((part, index) => (index % 2 ? <code>{part}</code> : part))}</>;
