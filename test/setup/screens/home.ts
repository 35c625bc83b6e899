/** Start page, settings and account pages. */
import { daysAgo, TODAY } from '../rich-account';
import { PAGE_INFO } from './fragments';
import { asApolloSends, type Screen } from './screen';

const HOME: Screen[] = [
  {
    name: 'check of the sign-in when the app opens',
    query: `query SignedIn {
      viewer { id username email isStaff profile { id unitSystem } }
    }`,
  },
  {
    name: 'start page',
    query: `query StartPage($today: DateTime!, $monthAgo: Date!) {
      viewer {
        id username firstName
        profile { id calories unitSystem }
      }
        schedules(first: 1, where: { isActive: { eq: true } }) {
          nodes { id name startsOn steps { id position duration workout { id name } } }
        }
        workoutSessions(first: 5, orderBy: [{ date: DESC }]) {
          totalCount
          nodes { id date impression startTime endTime workout { id name } }
        }
        weightEntries(first: 30, where: { date: { gte: $monthAgo } }, orderBy: [{ date: DESC }]) { nodes { id date weight } }
        nutritionPlans(first: 1) { nodes { id name } }
      nutritionIntake(where: { eatenAt: { gte: $today } }) { planId total { energy protein carbohydrates fat } }
      records: personalRecords(last: 5, from: $monthAgo) { date kind value exercise { id name } }
    }`,
    variables: { today: `${TODAY}T00:00:00Z`, monthAgo: daysAgo(30) },
  },
  {
    name: 'settings and profile',
    query: `query Settings {
      viewer {
        id username email firstName lastName joinedAt lastLoginAt version
        profile {
          id version age birthdate gender height calories unitSystem
          sleepHours workHours workIntensity sportHours sportIntensity freetimeHours freetimeIntensity
          showEnglishIngredients
        }
      }
      languages { id shortName fullName }
    }`,
  },
  {
    name: 'API keys and access tokens',
    query: `query AccessTokens {
      viewer { id username accessTokens { id name scopes createdAt expiresAt isExpired lastUsedAt } }
      rateLimit { cost limit remaining resetAt }
    }`,
  },
  {
    name: 'security events',
    query: `query SecurityEvents($first: Int!, $after: String) {
      viewer {
        id
        securityEvents(first: $first, after: $after) {
          totalCount
          edges { cursor node { id kind occurredAt address detail wasTruncated } }
          pageInfo { ...PageInfoFields }
        }
      }
    }
    ${PAGE_INFO}`,
    variables: { first: 50 },
  },
  {
    name: 'counts of all own rows before the account is deleted',
    query: `query OwnRows {
        viewer { id username }
        workouts { totalCount } schedules { totalCount } scheduleSteps { totalCount } trainingDays { totalCount }
        setGroups { totalCount } plannedSets { totalCount } workoutSessions { totalCount } workoutLogs { totalCount }
        weightEntries { totalCount } nutritionPlans { totalCount } meals { totalCount } mealItems { totalCount }
        diaryEntries { totalCount }
    }`,
  },
];

export const home = HOME.map(asApolloSends);
