/** What "Run an example" runs: small, but with everything that makes a workflow one. */
export const EXAMPLE_NAME = "example";

export const EXAMPLE = `name: example
description: Counts words of three small texts, side by side, and reports.
params:
  greeting: hello
tasks:
  prepare:
    run: |
      echo "preparing for \${{ params.greeting }}"
      echo "texts=3" >> "$WINDLASS_OUTPUT"
  count:
    depends_on: [prepare]
    foreach: {items: [alpha, beta, gamma]}
    run: |
      sleep 1
      echo "counting \${{ item }}"
      echo "words=$RANDOM" >> "$WINDLASS_OUTPUT"
  check:
    depends_on: [prepare]
    retries: {max: 2, delay: 1s}
    run: |
      echo "checking, attempt $WINDLASS_ATTEMPT"
      test "$WINDLASS_ATTEMPT" -gt 1
  report:
    depends_on: [count, check]
    run: |
      echo "all texts are counted"
      echo "done=yes" >> "$WINDLASS_OUTPUT"
finally:
  tidy: {run: echo tidied}
`;
