package io.penstock.examples.conversations;

/// Rule by which a turn decides how much of the node's prefix it fetches.
enum ChoiceRule {
  /// Fetches all of it.
  ALWAYS,
  /// Fetches the part that is faster to fetch than to compute.
  COST
}
