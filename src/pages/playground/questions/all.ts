/** All example questions, in the order in which the playground lists them. */
import { BODY_QUESTIONS } from './body';
import { CATALOGUE_QUESTIONS } from './catalogue';
import { EFFORT_QUESTIONS } from './effort';
import { FORMULA_QUESTIONS } from './formulas';
import { INTAKE_QUESTIONS } from './intake';
import { NUTRITION_QUESTIONS } from './nutrition';
import type { ExampleQuestion } from './question';
import { TRAINING_QUESTIONS } from './training';

export const EXAMPLE_QUESTIONS: readonly ExampleQuestion[] = [
  ...FORMULA_QUESTIONS,
  ...TRAINING_QUESTIONS,
  ...EFFORT_QUESTIONS,
  ...INTAKE_QUESTIONS,
  ...NUTRITION_QUESTIONS,
  ...BODY_QUESTIONS,
  ...CATALOGUE_QUESTIONS,
];
