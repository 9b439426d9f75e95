/** The course: eight steps, each with a small run. */

import { basics } from './basics'
import { papers } from './papers'
import type { Step } from './step'

const [first, ...others] = basics
if (!first) throw new Error('the course is empty')

export const steps: [Step, ...Step[]] = [first, ...others, ...papers]
