package io.penstock.examples.conversations;

/// How a turn decides how much of the prefix that the node has it fetches.
enum ChoiceRule {
  /// All of it.
  ALWAYS,
  /// What is faster to fetch than to compute.
  COST
}
