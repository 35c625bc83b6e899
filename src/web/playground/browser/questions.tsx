/**
 * Panel of example questions: a search field, the questions by group and inputs for their
 * variables.
 */
import { pick, useGraphiQL } from '@graphiql/react';
import { useState, type SubmitEvent } from 'react';
import { QUESTIONS_BY_GROUP } from '../questions/all';
import { matchesSearch, type ExampleQuestion } from '../questions/question';
import { initialVariablesOf, useRunQuestion } from './run-query';

/** Converts the text of an input to the type of the default value. */
function parseVariableValue(text: string, defaultValue: unknown): unknown {
  if (typeof defaultValue === 'number') return Number(text);

  return Array.isArray(defaultValue) ? text.split(',').map((part) => part.trim()) : text;
}

function VariablesForm({
  question,
  onSubmit,
}: {
  question: ExampleQuestion;
  onSubmit: (variables: object) => void;
}) {
  const variables = initialVariablesOf(question);
  const names = Object.keys(variables);

  if (names.length === 0) return null;

  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);

    onSubmit(
      Object.fromEntries(
        names.map((name) => [name, parseVariableValue(String(form.get(name)), variables[name])]),
      ),
    );
  };

  return (
    <form className="variables" onSubmit={submit}>
      {names.map((name) => (
        <label key={name}>
          {name}
          <input
            name={name}
            defaultValue={String(variables[name])}
            type={name === 'since' ? 'date' : 'text'}
          />
        </label>
      ))}
      <button>Run</button>
    </form>
  );
}

function QuestionItem({
  question,
  isOpen,
  onOpen,
}: {
  question: ExampleQuestion;
  isOpen: boolean;
  onOpen: (variables?: object) => void;
}) {
  return (
    <li className={isOpen ? 'open' : undefined}>
      <button className="question" aria-current={isOpen || undefined} onClick={() => onOpen()}>
        {question.title}
      </button>
      <p>
        {/* Text between backticks is code. */}
        {question.explanation
          .split('`')
          .map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part))}
      </p>
      {isOpen && <VariablesForm question={question} onSubmit={onOpen} />}
    </li>
  );
}

function ExampleQuestionsPanel() {
  const { tabs, activeTabIndex } = useGraphiQL(pick('tabs', 'activeTabIndex'));
  const [searchText, setSearchText] = useState('');
  const runQuestion = useRunQuestion();
  const currentQuery = tabs[activeTabIndex]?.query;
  const matchingQuestions = Object.entries(QUESTIONS_BY_GROUP)
    .map(
      ([group, questions]) =>
        [group, questions.filter((question) => matchesSearch(question, searchText))] as const,
    )
    .filter(([, questions]) => questions.length > 0);

  return (
    <section className="questions" aria-labelledby="questions">
      <h2 id="questions">Example questions</h2>
      <input
        type="search"
        aria-label="Search questions"
        placeholder="Search questions"
        value={searchText}
        onChange={({ target }) => setSearchText(target.value)}
      />
      <p className="count" role="status">
        {matchingQuestions.length === 0 && 'No question found. Try another word.'}
      </p>
      {matchingQuestions.map(([group, questions]) => (
        <details key={group} open>
          <summary>
            {group} <span className="count">{questions.length}</span>
          </summary>
          <ul>
            {questions.map((question) => (
              <QuestionItem
                key={question.slug}
                question={question}
                isOpen={currentQuery === question.query}
                onOpen={(variables = initialVariablesOf(question)) =>
                  runQuestion(question, variables)
                }
              />
            ))}
          </ul>
        </details>
      ))}
    </section>
  );
}

const QuestionsIcon = () => (
  <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="1.5" aria-hidden="true">
    <path d="M12 21a9 9 0 1 0-8-4.9L3 21z" strokeLinejoin="round" />
    <path d="M9.5 9.5a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.8" strokeLinecap="round" />
    <path d="M12 16.6v.1" strokeWidth="2" strokeLinecap="round" />
  </svg>
);

export const EXAMPLE_QUESTIONS_PLUGIN = {
  title: 'Example questions',
  icon: QuestionsIcon,
  content: ExampleQuestionsPanel,
};
