/** All example questions by group, in the order in which the playground lists them. */
import { BODY_QUESTIONS } from './body';
import { CATALOGUE_QUESTIONS } from './catalogue';
import { EFFORT_QUESTIONS } from './effort';
import { FORMULA_QUESTIONS } from './formulas';
import { INTAKE_QUESTIONS } from './intake';
import { NUTRITION_QUESTIONS } from './nutrition';
import type { ExampleQuestion } from './question';
import { TRAINING_QUESTIONS } from './training';

export const QUESTIONS_BY_GROUP: Readonly<Record<string, readonly ExampleQuestion[]>> = {
  Training: [...FORMULA_QUESTIONS, ...TRAINING_QUESTIONS, ...EFFORT_QUESTIONS],
  Nutrition: [...INTAKE_QUESTIONS, ...NUTRITION_QUESTIONS],
  Body: BODY_QUESTIONS,
  Catalogue: CATALOGUE_QUESTIONS,
};

export const EXAMPLE_QUESTIONS = Object.values(QUESTIONS_BY_GROUP).flat();
