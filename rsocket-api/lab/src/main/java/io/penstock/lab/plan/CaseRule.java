package io.penstock.lab.plan;

import io.penstock.node.plan.Case;
import java.util.Map;
import java.util.function.Predicate;

/// A rule of the planner, as cases of one kind ask for it.
///
/// @param kind name of the kind, for people
/// @param fits whether a case is of the kind, by its fields
/// @param answer the fields that a case should have, by its inputs
record CaseRule(String kind, Predicate<Case> fits, Answer answer) {
  /// Computes the recorded fields of a case again.
  interface Answer {
    /// @throws io.penstock.node.plan.FieldException if an input is not of its form
    Map<String, Object> of(Case one);
  }
}
