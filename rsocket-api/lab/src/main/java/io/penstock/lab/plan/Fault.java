package io.penstock.lab.plan;

import io.penstock.node.plan.Case;
import io.penstock.node.plan.FieldException;
import org.jspecify.annotations.Nullable;

/// Why a file, or a case of it, cannot be checked.
///
/// @param section of the case; empty for the file
/// @param number of the case; null for the file
/// @param field that breaks a rule; null where no single field does
/// @param value of that field
/// @param message all of this in words
record Fault(String section, @Nullable Integer number, @Nullable String field, @Nullable String value,
    String message) {
  static Fault ofFile(String message) {
    return new Fault("", null, null, null, message);
  }

  boolean isOfFile() {
    return number == null;
  }

  static Fault of(Case one, String message) {
    return new Fault(one.section(), one.number(), null, null, one.name() + " " + message);
  }

  static Fault of(Case one, FieldException e) {
    return new Fault(one.section(), one.number(), e.field(), e.value(), one.name() + ": " + e.getMessage());
  }
}
