import { expect, test } from 'vitest'
import { csv } from './download'

test('Fields with commas, quotes or line breaks are quoted, and missing values are empty', () => {
  const text = csv(
    ['a', 'b'],
    [
      ['x,y', null],
      ['"', NaN],
      [1.5, true],
    ],
  )
  expect(text).toBe('a,b\r\n"x,y",\r\n"""",\r\n1.5,true\r\n')
})
